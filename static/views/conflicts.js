// What brokers are at odds about, kind by kind: what it means, what helps, and who is
// concerned. There are few of them, and each wants an explanation more than a long table.
import { html, useEffect, useMemo } from '../vendor/preact.js';
import { has, t } from '../lib/i18n.js';
import { route, setQuery } from '../lib/router.js';
import { tick } from '../lib/clock.js';
import { matcher } from '../lib/find.js';
import { connected, table } from '../lib/live.js';
import { Ago, Badge, Go, Head, Icon, Name, When, copyText } from '../ui/atoms.js';
import { Blank, Got, NoMatch, useGet, useNews } from '../ui/states.js';
import { Filter, Select } from '../ui/filters.js';

const kinds = ['name-in-two-clusters', 'place-contested', 'address-contested', 'registration-refused', 'removal-refused'];
const key = (x) => [x.brokerName, x.brokerId, x.clusterName, x.brokerAddr, x.against, x.code].join('\u0000');
const most = 100; // rows of one kind; who looks for one among more narrows the filter
const state = (x) => (x.active ? 'now' : 'over');

export default function Conflicts() {
  const { q = '', kind = '', state: wanted = '' } = route.value.query;
  // News of brokers is heard by the feed. Late sign-offs are no change, and conflicts
  // come to rest without one: for those the page asks now and then.
  const beat = connected.value ? Math.floor(tick.value / 15_000) : 0;
  const got = useGet('conflicts', [beat, useNews('member')]);
  const rows = useMemo(() => {
    const m = matcher(q);
    return (got.data?.items ?? []).filter((x) => (!kind || x.kind === kind) && (!wanted || state(x) === wanted) && [x.brokerName, x.clusterName, x.brokerAddr, x.against ?? ''].some((s) => m.test(s)));
  }, [got.data, q, kind, wanted]);
  useEffect(keys, []);
  return html`<${Head} title=${t('nav.conflicts')} text=${t('conflicts.text')} />
    <${Got} from=${got}>${(r) => (r.items.length === 0 ? html`<div class="card"><${Blank} icon="check" title=${t('conflicts.none')} text=${t('conflicts.noneText')} /></div>`
      : html`<div class="tools"><${Filter} value=${q} label=${t('conflicts.filter')} onInput=${(v) => setQuery({ q: v })} />
          <${Select} name="kind" value=${kind} label=${t('conflicts.kind')} options=${kinds.filter((k) => k === kind || r.items.some((x) => x.kind === k))} text=${(k) => t('conflicts.' + k)} />
          <${Select} name="state" value=${wanted} label=${t('col.state')} options=${['now', 'over']} text=${(s) => t('conflicts.' + s)} /></div>
        ${rows.length === 0 ? html`<div class="card"><${NoMatch} total=${r.items.length} onClear=${() => setQuery({ q: '', kind: '', state: '' })} /></div>`
          : kinds.map((k) => html`<${Kind} key=${k} kind=${k} rows=${rows.filter((x) => x.kind === k)} />`)}`)}<//>`;
}

// The keys of tables go from one broker to the next, over all kinds.
function keys() {
  const links = () => [...document.querySelectorAll('main tbody td:first-child > a')];
  const at = (all) => all.indexOf(document.activeElement?.closest('tr')?.querySelector('a'));
  const mine = table.current = {
    move: (by) => {
      const all = links();
      all[Math.max(0, Math.min(all.length - 1, at(all) + by))]?.focus();
    },
    copy: () => {
      const all = links();
      if (at(all) >= 0) copyText(all[at(all)].textContent);
    },
  };
  return () => { if (table.current === mine) table.current = null; };
}

function Kind({ kind, rows }) {
  if (rows.length === 0) return null;
  const now = rows.filter((x) => x.active).length;
  const refused = kind === 'registration-refused';
  return html`<section class="card" aria-labelledby=${'kind-' + kind}><header><h2 id=${'kind-' + kind}>${t('conflicts.' + kind)}</h2>
      ${now > 0 ? html`<${Badge} level="warn" icon="warn">${t('conflicts.going', { n: now })}<//>` : html`<${Badge} level="ok" icon="check">${t('conflicts.over')}<//>`}</header>
    <div class="body stack tight"><p>${t(`conflicts.${kind}.text`)}</p><p><b>${t('conflicts.do')}</b>${t('gap')}${t(`conflicts.${kind}.do`)}</p></div>
    <div class="scroll" tabindex="0" role="group" aria-labelledby=${'kind-' + kind}><table class=${'t' + (refused ? ' top' : '')}><thead><tr><th scope="col">${t('col.broker')}</th><th scope="col" class="num">${t('col.id')}</th><th scope="col">${t('col.cluster')}</th><th scope="col">${t('col.address')}</th>
        <th scope="col">${refused ? t('conflicts.reason') : t('conflicts.against')}</th><th scope="col" class="num">${t('conflicts.count')}</th><th scope="col" class="num">${t('conflicts.first')}</th><th scope="col" class="num">${t('conflicts.last')}</th><th scope="col">${t('col.state')}</th></tr></thead>
      <tbody>${rows.slice(0, most).map((x) => html`<tr key=${key(x)}><td><${Broker} name=${x.brokerName} /></td><td class="num">${x.brokerId < 0 ? '–' : x.brokerId}</td><td><${Cluster} name=${x.clusterName} /></td><td class="mono nowrap"><${Name} of=${x.brokerAddr} /></td>
        <td class=${refused ? 'wide' : 'nowrap'}><${refused ? Reason : Against} of=${x} /></td><td class="num">${t('n', { n: x.count })}</td><td class="num nowrap"><${When} at=${x.firstAt} /></td><td class="num nowrap"><${Ago} at=${x.lastAt} /></td>
        <td>${x.active ? html`<${Badge} level="warn">${t('conflicts.now')}<//>` : html`<${Badge}>${t('conflicts.over')}<//>`}</td></tr>`)}</tbody></table></div>
    ${rows.length > most && html`<p class="body muted small">${t('kv.many', { n: rows.length - most })}</p>`}</section>`;
}

// The server keeps long names cut short, with a mark at the end: those have no page.
const whole = (name) => name !== '' && !name.endsWith('…');

function Broker({ name }) {
  return whole(name) ? html`<${Go} to=${['brokers', name]}><${Name} of=${name} /><//>` : html`<${Name} of=${name} />`;
}

function Cluster({ name }) {
  return whole(name) ? html`<${Go} to=${['clusters']} query=${{ cluster: name }}><${Name} of=${name} /><//>` : html`<${Name} of=${name} />`;
}

// Whom it stands against is a cluster, an address, or a broker's name and id.
function Against({ of }) {
  const { kind, against = '' } = of;
  if (against === '') return html`<span class="faint">–</span>`;
  if (kind === 'name-in-two-clusters') return html`<${Cluster} name=${against} />`;
  if (kind !== 'address-contested') return html`<span class="mono"><${Name} of=${against} /></span>`;
  const cut = against.lastIndexOf('/');
  return html`<${Broker} name=${against.slice(0, cut)} /> <span class="faint">${against.slice(cut + 1)}</span>`;
}

function Reason({ of }) {
  const text = 'conflicts.code.' + of.code;
  return html`<div class="two"><span class="row"><${Icon} name="info" size="14" /><span class="mono small">${of.code}</span></span><span>${has(text) ? t('conflicts.code.' + of.code) : of.detail}</span></div>`;
}
