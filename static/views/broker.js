// One broker set: its members side by side, its topics, what happened to it, and what can
// be done to it.
import { html, useMemo, useState } from '../vendor/preact.js';
import { rich, t } from '../lib/i18n.js';
import { href, route, setQuery } from '../lib/router.js';
import { restore, unregister, wipe } from '../lib/actions.js';
import { matcher } from '../lib/find.js';
import { permText, visible } from '../lib/format.js';
import { path as at, curl } from '../lib/api.js';
import { isAdmin, role, store } from '../lib/live.js';
import { Badge, Code, Copy, Go, Head, Icon, Name, Perm, State, Tabs, TimeLeft, When } from '../ui/atoms.js';
import { Blank, Got, Loading, NoMatch, useGet } from '../ui/states.js';
import { DataTable } from '../ui/table.js';
import { Filter } from '../ui/filters.js';
import { Events } from '../ui/events.js';
import { Lazy } from '../ui/shell.js';
import { useGroups } from './overview.js';

const confirm = () => import('../ui/confirm.js');
const tabs = ['members', 'topics', 'history', 'raw'];

export default function BrokerPage({ path }) {
  const name = path[1];
  const gs = useGroups();
  const g = gs.find((x) => x.name === name);
  const { tab = 'members' } = route.value.query;
  const [asked, ask] = useState(null);
  if (!store.ready.value) return html`<${Loading} />`;
  const crumb = html`<a href=${href(['brokers'])}>${t('nav.brokers')}</a>`;
  if (!g) {
    return html`<${Head} crumb=${crumb} title=${visible(name)} /><div class="card"><${Blank} icon="brokers" title=${t('broker.missing')} text=${t('broker.missingText')}><${Go} class="btn" to=${['events']} query=${{ broker: name }}>${t('nav.events')}<//><//></div>
      <${Events} fixed=${{ broker: name }} />`;
  }
  const now = tabs.includes(tab) ? tab : 'members';
  return html`<${Head} crumb=${crumb} title=${visible(name)}>${isAdmin.value && (g.wipe
      ? html`<button type="button" class="btn primary" id="restore" onClick=${() => ask(restore(name, g.topics))}>${t('restore.do')}…</button>`
      : html`<button type="button" class="btn danger" id="wipe" onClick=${() => ask(wipe(name, g.topics))}>${t('wipe.do')}…</button>`)}<//>
    <div class="row"><span class="muted"><${Name} of=${g.cluster} />${g.zone && ' · ' + g.zone} · ${t('overview.topics', { n: g.topics })}</span>
      ${!g.hasMaster && html`<${Badge} level="bad" icon="warn">${t('set.noMaster')}<//>`}${g.clash && html`<${Badge} level="bad" icon="warn">${t('set.clash')}<//>`}
      ${g.acting && html`<${Badge} level="warn">${t('set.acting', { id: g.acting.brokerId })}<//>`}</div>
    ${g.wipe && html`<div class="problem warn"><${Icon} name="lock" /><span>${rich('broker.wiped', { since: html`<${When} at=${g.wipe.since} />`, actor: g.wipe.actor || '–', n: g.wipe.topicCount ?? g.topics })} ${t('wipe.lasts')}</span></div>`}
    <${Tabs} label=${t('broker.tabs')} now=${now} to=${['brokers', name]} tabs=${tabs.map((id) => ({ id, text: t('broker.tab.' + id) }))} />
    ${now === 'members' && html`<${Members} g=${g} ask=${ask} />`}
    ${now === 'topics' && html`<${Topics} g=${g} />`}
    ${now === 'history' && html`<${Events} fixed=${{ broker: name }} />`}
    ${now === 'raw' && html`<${Raw} name=${name} moved=${store.membersMoved.value} />`}
    ${asked && html`<${Lazy} load=${confirm} ...${asked} onClose=${() => ask(null)} />`}`;
}

// Members in columns: what differs between them, such as the data version, meets the eye.
function Members({ g, ask }) {
  const versions = new Set(g.members.map((m) => m.dataVersion?.counter + '/' + m.dataVersion?.timestamp));
  const rows = [
    ['col.state', (m) => html`<${State} member=${m} />`], ['col.left', (m) => html`<${TimeLeft} member=${m} />`], ['col.role', (m) => t('role.' + m.role)],
    ['col.address', (m) => html`<span class="row"><span class="mono">${m.brokerAddr}</span><${Copy} text=${m.brokerAddr} label=${t('copy.address')} /></span>`],
    ['col.ha', (m) => (m.haServerAddr ? html`<span class="mono">${m.haServerAddr}</span>` : '–')], ['col.cluster', (m) => html`<${Name} of=${m.clusterName} />`], ['col.zone', (m) => m.zoneName || '–'],
    ['col.source', (m) => html`${t('source.' + m.source)}${m.owner && html` <span class="faint">${m.owner}</span>`}`], ['col.version', (m) => html`${m.version || '–'} <span class="faint">${m.language}</span>`],
    ['col.dataVersion', (m) => (m.dataVersion ? html`<span class="row">${t('n', { n: m.dataVersion.counter })} · <${When} at=${m.dataVersion.timestamp} />${versions.size > 1 && html`<${Badge} level="warn">${t('broker.differs')}<//>`}</span>` : '–')],
    ['col.timeout', (m) => t('seconds', { n: Math.round(m.heartbeatTimeoutMillis / 1000) })], ['col.registered', (m) => html`<${When} at=${m.registeredAt} />`], ['col.heard', (m) => html`<${When} at=${m.lastUpdateTimestamp} />`],
  ];
  const removable = (m) => m.source === 'rest' && (isAdmin.value || role.value === 'registrar');
  return html`<div class="card scroll" tabindex="0" role="region" aria-label=${t('broker.tab.members')}><table class="t"><thead><tr><td />${g.members.map((m) => html`<th scope="col" key=${m.brokerId}>${t('broker.id', { id: m.brokerId })}</th>`)}</tr></thead>
    <tbody>${rows.map(([key, cell]) => html`<tr key=${key}><th scope="row" class="muted">${t(key)}</th>${g.members.map((m) => html`<td key=${m.brokerId}>${cell(m)}</td>`)}</tr>`)}
      ${g.members.some(removable) && html`<tr><th scope="row" class="muted">${t('col.actions')}</th>${g.members.map((m) => html`<td key=${m.brokerId}>${removable(m) && html`<button type="button" class="btn danger tiny" onClick=${() => ask(unregister(m))}>${t('unregister.do')}…</button>`}</td>`)}</tr>`}</tbody></table></div>`;
}

const key = (x) => x.name;

function Topics({ g }) {
  const { q = '', sort = 'topic' } = route.value.query;
  const moved = store.topicsMoved.value;
  const mine = useMemo(() => [...store.topics.values()].flatMap((x) => {
    const part = x.queues.find((p) => p.brokerName === g.name);
    return part ? [{ name: x.name, ...part }] : [];
  }), [moved, g.name]);
  const rows = useMemo(() => { const m = matcher(q); return mine.filter((x) => m.test(x.name)); }, [mine, q]);
  if (mine.length === 0) return html`<div class="card"><${Blank} icon="topics" title=${t('empty.topics')} text=${t('empty.brokerTopics')} /></div>`;
  const columns = [
    { id: 'topic', label: t('col.topic'), value: (x) => x.name, cell: (x) => html`<${Go} to=${['topics', x.name]}><${Name} of=${x.name} /><//>` },
    { id: 'write', label: t('col.write'), width: '8rem', num: true, value: (x) => x.writeQueueNums, cell: (x) => x.writeQueueNums },
    { id: 'read', label: t('col.read'), width: '8rem', num: true, value: (x) => x.readQueueNums, cell: (x) => x.readQueueNums },
    { id: 'perm', label: t('col.perm'), width: '8rem', value: (x) => x.perm, cell: (x) => html`<${Perm} text=${permText(x.perm)} />` },
  ];
  return html`<div class="tools"><${Filter} value=${q} label=${t('topics.filter')} onInput=${(v) => setQuery({ q: v })} /></div>
    ${rows.length === 0 ? html`<div class="card"><${NoMatch} total=${mine.length} onClear=${() => setQuery({ q: '' })} /></div>`
      : html`<div class="tallbox"><${DataTable} label=${t('broker.tab.topics')} columns=${columns} rows=${rows} rowKey=${key} rowHref=${(x) => href(['topics', x.name])} total=${mine.length} sort=${sort} onSort=${(s) => setQuery({ sort: s === 'topic' ? '' : s })} view=${q} /></div>`}`;
}

function Raw({ name, moved }) {
  const got = useGet(at('brokers', name), [moved]);
  return html`<${Code} text=${curl('GET', at('brokers', name))} label="curl" /><${Got} from=${got}>${(r) => html`<${Code} text=${JSON.stringify(r, null, 2)} label=${t('broker.tab.raw')} />`}<//>`;
}
