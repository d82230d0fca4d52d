// The other NameServers of the set, whether they agree with this one, and if not, on what.
// They share nothing: each broker registers with every one of them.
import { html, useMemo, useState } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { path, send } from '../lib/api.js';
import { fields } from '../lib/describe.js';
import { matcher } from '../lib/find.js';
import { connected, isAdmin, say } from '../lib/live.js';
import { route, setQuery } from '../lib/router.js';
import { tick } from '../lib/clock.js';
import { Ago, Badge, Code, Go, Head, Icon, Name, When } from '../ui/atoms.js';
import { Filter, Select } from '../ui/filters.js';
import { Blank, Got, NoMatch, useGet } from '../ui/states.js';
import { DataTable } from '../ui/table.js';

const kinds = ['broker', 'member', 'topic', 'route', 'kv', 'setting'];
const most = 10_000;

// What peers answer is no change of this registry until it differs: the page asks.
const beat = () => (connected.value ? Math.floor(tick.value / 5000) : 0);

export default function Peers() {
  const peer = route.value.path[1];
  return peer === undefined ? html`<${Matrix} />` : html`<${Diff} key=${peer} peer=${peer} />`;
}

function Matrix() {
  const got = useGet('peers', [beat()]);
  return html`<${Head} title=${t('nav.peers')} text=${t('peers.text')} /><${Got} from=${got}>${(list) => {
    if (list.items.length === 0) return html`<div class="card"><${Blank} icon="peers" title=${t('peers.none')} text=${t('peers.noneText')}><${Code} text="peers=10.0.0.2:9876;10.0.0.3:9876" label=${t('peers.example')} /><//></div>`;
    return html`<div class="card scroll" tabindex="0" role="region" aria-label=${t('nav.peers')}><table class="t"><thead><tr><th scope="col">${t('peers.address')}</th><th scope="col">${t('col.state')}</th><th scope="col">${t('peers.software')}</th>
      <th scope="col" class="num">${t('col.brokers')}</th><th scope="col" class="num">${t('peers.members')}</th><th scope="col" class="num">${t('col.topics')}</th><th scope="col">${t('peers.differences')}</th><th scope="col" class="num">${t('peers.checked')}</th></tr></thead>
      <tbody>${list.items.map((p) => html`<tr key=${p.peer}><td><${Go} to=${['peers', p.peer]} class="mono">${p.peer}<//></td><td><${PeerState} of=${p} /></td><td>${software(p)}</td>
        <td class="num">${known(p, p.brokerCount)}</td><td class="num">${known(p, p.memberCount)}</td><td class="num">${known(p, p.topicCount)}</td><td><${Differs} of=${p} /></td>
        <td class="num">${p.checkedAt ? html`<${Ago} at=${p.checkedAt} />` : '–'}</td></tr>`)}</tbody></table></div>
      <p class="problem info"><${Icon} name="info" /><span>${t('peers.note')}</span></p>`;
  }}<//>`;
}

const known = (p, n) => (p.checkedAt && n !== undefined ? t('n', { n }) : '–');
const names = { fingerpost: 'Fingerpost', java: 'Java NameServer' };
const software = (p) => (p.software ? (names[p.software] ?? t('peers.software.other')) + (p.version ? ' ' + p.version.replace(/^V/, '').replaceAll('_', '.') : '') : '–');

const levels = { reachable: 'ok', unreachable: 'bad', self: 'info', unknown: '' };
function PeerState({ of }) {
  return html`<${Badge} level=${levels[of.state]} icon=${of.state === 'unreachable' ? 'warn' : undefined}>${t('peers.state.' + of.state)}<//>`;
}

function Differs({ of }) {
  if (of.state === 'self' || !of.checkedAt) return '–';
  return html`<${Badge} level=${of.differences ? 'bad' : 'ok'} icon=${of.differences ? 'warn' : 'check'}>${of.differences ? t('peers.differ', { n: of.differences }) : t('peers.agrees')}<//>
    ${of.pending > 0 && html` <span class="faint small">${t('peers.pending', { n: of.pending })}</span>`}`;
}

function Diff({ peer }) {
  const { kind = '', q = '', sort = 'subject' } = route.value.query;
  const got = useGet(path('peers', peer, 'diff') + '?limit=' + most, [beat()]);
  const rows = useMemo(() => {
    const m = matcher(q);
    return (got.data?.items ?? []).filter((d) => (!kind || d.kind === kind) && m.test(subject(d)));
  }, [got.data, kind, q]);
  const columns = [
    { id: 'kind', label: t('peers.kind'), width: '9rem', value: (d) => kinds.indexOf(d.kind), cell: (d) => t('peers.kind.' + d.kind) },
    { id: 'subject', label: t('peers.subject'), value: subject, cell: (d) => html`<${Subject} d=${d} />` },
    { id: 'difference', label: t('peers.difference'), width: '10rem', value: (d) => d.difference, cell: (d) => html`${t('peers.' + d.difference)}${d.topicCount > 0 && html`<br /><span class="faint small">${t('peers.withTopics', { n: d.topicCount })}</span>`}` },
    { id: 'here', label: t('peers.here'), width: '16rem', value: (d) => JSON.stringify(d.here ?? ''), cell: (d) => html`<${Facts} of=${d} side="before" />` },
    { id: 'there', label: t('peers.there'), width: '16rem', value: (d) => JSON.stringify(d.there ?? ''), cell: (d) => html`<${Facts} of=${d} side="after" />` },
    { id: 'since', label: t('peers.since'), width: '10rem', num: true, value: (d) => d.since, cell: (d) => html`<${When} at=${d.since} />` },
  ];
  return html`<${Head} title=${peer} crumb=${html`<${Go} to=${['peers']}>${t('nav.peers')}<//>`}>${isAdmin.value && html`<${Check} peer=${peer} onDone=${got.retry} />`}<//>
    <${Got} from=${got}>${(r) => html`<${Standing} p=${r.peer} />
      ${r.total === 0 ? html`<div class="card"><${Blank} icon=${r.peer.checkedAt ? 'check' : 'peers'} title=${t(r.peer.checkedAt ? 'peers.noDifference' : 'peers.notChecked')} text=${r.peer.checkedAt && r.peer.state !== 'self' ? t('peers.noDifferenceText') : ''} /></div>`
        : html`<div class="tools"><${Filter} value=${q} label=${t('peers.filter')} onInput=${(v) => setQuery({ q: v })} /><${Select} name="kind" value=${kind} label=${t('peers.kind')} options=${kinds} text=${(k) => t('peers.kind.' + k)} /></div>
          ${rows.length === 0 ? html`<div class="card"><${NoMatch} total=${r.total} onClear=${() => setQuery({ q: '', kind: '' })} /></div>`
            : html`<${DataTable} label=${t('peers.differences')} columns=${columns} rows=${rows} rowKey=${(d) => d.kind + '\n' + subject(d) + '\n' + d.difference} sort=${sort} total=${r.total} tall onSort=${(s) => setQuery({ sort: s === 'subject' ? '' : s })} view=${[q, kind].join('\n')} copy=${subject} />`}`}`}<//>`;
}

const subject = (d) => [d.topic, d.brokerName, d.brokerId, d.namespace, d.key].filter((x) => x !== undefined && x !== '').join(' / ') || t('peers.unnamed');

function Subject({ d }) {
  if (d.topic) return html`<${Go} to=${['topics', d.topic]}><${Name} of=${d.topic} /><//>${d.brokerName && html` <span class="faint">${d.brokerName}</span>`}`;
  if (d.brokerName) return html`<${Go} to=${['brokers', d.brokerName]}><${Name} of=${d.brokerName} /><//>${d.brokerId !== undefined && html` <span class="faint">${d.brokerId}</span>`}`;
  return html`<${Name} of=${subject(d)} />`;
}

function Facts({ of, side }) {
  const lines = fields({ before: of.here, after: of.there }).filter((f) => f[side] !== null && f[side] !== '' && f[side] !== 'false');
  return lines.length === 0 ? html`<span class="faint">–</span>` : lines.map((f) => html`<div key=${f.field} class="mono small">${f.field}: ${f[side]}</div>`);
}

function Standing({ p }) {
  return html`<dl class="facts card body"><div><dt>${t('col.state')}</dt><dd><${PeerState} of=${p} /> <span class="faint small"><${When} at=${p.since} /></span></dd></div>
    <div><dt>${t('peers.software')}</dt><dd>${software(p)}</dd></div>
    <div><dt>${t('peers.checked')}</dt><dd>${p.checkedAt ? html`<${Ago} at=${p.checkedAt} />` : '–'}</dd></div>
    <div><dt>${t('peers.differences')}</dt><dd><${Differs} of=${p} /></dd></div>
    ${p.routesTotal > 0 && html`<div><dt>${t('peers.routes')}</dt><dd>${t('peers.routesOf', { n: p.routesAsked, of: p.routesTotal })}</dd></div>`}</dl>
    ${p.lastError && html`<p class="problem bad"><${Icon} name="warn" /><span class="mono">${p.lastError}</span></p>`}
    ${p.software === 'java' && html`<p class="problem info"><${Icon} name="info" /><span>${t('peers.javaNote')}</span></p>`}
    ${p.notes.includes('topics-not-listed') && html`<p class="problem info"><${Icon} name="info" /><span>${t('peers.notListed')}</span></p>`}
    ${p.notes.includes('truncated') && html`<p class="problem warn"><${Icon} name="warn" /><span>${t('peers.truncated')}</span></p>`}`;
}

function Check({ peer, onDone }) {
  const [busy, setBusy] = useState(false);
  const check = async () => {
    setBusy(true);
    try {
      await send('POST', path('peers', peer, 'check'));
      say(t('peers.didCheck'));
      onDone();
    } catch (err) {
      say(err.message);
    }
    setBusy(false);
  };
  return html`<button type="button" class="btn" disabled=${busy} onClick=${check}>${t('peers.check')}</button>`;
}
