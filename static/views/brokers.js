// Every member of every broker set in one table, worst first if so asked.
import { html, useMemo } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { href, route, setQuery } from '../lib/router.js';
import { tick } from '../lib/clock.js';
import { memberKey, stateOf } from '../lib/model.js';
import { matcher } from '../lib/find.js';
import { asOf, store } from '../lib/live.js';
import { Ago, Badge, Go, Head, Name, State, TimeLeft } from '../ui/atoms.js';
import { DataTable } from '../ui/table.js';
import { Loading, NoBrokers, NoMatch } from '../ui/states.js';
import { Filter, Select } from '../ui/filters.js';
import { useGroups } from './overview.js';

const columns = () => [
  { id: 'broker', label: t('col.broker'), value: (m) => m.brokerName + '\u0000' + String(m.brokerId).padStart(16, '0'), cell: (m) => html`<${Go} to=${['brokers', m.brokerName]}><${Name} of=${m.brokerName} /><//>` },
  { id: 'id', label: t('col.id'), width: '3.5rem', num: true, value: (m) => m.brokerId, cell: (m) => m.brokerId },
  { id: 'role', label: t('col.role'), width: '7.5rem', value: (m) => m.role, cell: (m) => t('role.' + m.role) },
  { id: 'state', label: t('col.state'), width: '6.5rem', cell: (m) => html`<${State} member=${m} />` },
  { id: 'left', label: t('col.left'), width: '10rem', value: (m) => m.lastUpdateTimestamp + m.heartbeatTimeoutMillis, cell: (m) => html`<${TimeLeft} member=${m} />` },
  { id: 'cluster', label: t('col.cluster'), width: '9rem', value: (m) => m.clusterName, cell: (m) => html`<${Name} of=${m.clusterName} />` },
  { id: 'zone', label: t('col.zone'), width: '6rem', value: (m) => m.zoneName ?? '', cell: (m) => m.zoneName || html`<span class="faint">–</span>` },
  { id: 'address', label: t('col.address'), width: '12rem', value: (m) => m.brokerAddr, cell: (m) => html`<span class="mono">${m.brokerAddr}</span>` },
  { id: 'topics', label: t('col.topics'), width: '5rem', num: true, value: (m) => m.topics, cell: (m) => t('n', { n: m.topics }) },
  { id: 'perm', label: t('col.writes'), width: '7rem', value: (m) => (m.wiped ? 1 : 0), cell: (m) => (m.wiped ? html`<${Badge} level="warn" icon="lock">${t('set.wiped')}<//>` : t('perm.granted')) },
  { id: 'version', label: t('col.version'), width: '6rem', value: (m) => m.version ?? '', cell: (m) => m.version || html`<span class="faint">–</span>` },
  { id: 'heard', label: t('col.heard'), width: '7rem', num: true, value: (m) => m.lastUpdateTimestamp, cell: (m) => html`<${Ago} at=${m.lastUpdateTimestamp} />` },
  { id: 'source', label: t('col.source'), width: '6.5rem', value: (m) => m.source, cell: (m) => t('source.' + m.source) },
];

export default function Brokers() {
  const { q = '', cluster = '', state = '', source = '', zone = '', sort = 'broker' } = route.value.query;
  const gs = useGroups();
  const all = useMemo(() => gs.flatMap((g) => g.members.map((m) => ({ ...m, topics: g.topics, wiped: Boolean(g.wipe) }))), [gs]);
  const beat = state ? Math.floor(tick.value / 1000) : 0;
  const rows = useMemo(() => {
    const name = matcher(q);
    return all.filter((m) => (!cluster || m.clusterName === cluster) && (!zone || (m.zoneName ?? '') === zone) && (!source || m.source === source)
      && (!state || stateOf(m, asOf()) === state) && (name.test(m.brokerName) || name.test(m.brokerAddr)));
  }, [all, q, cluster, state, source, zone, beat]);
  if (!store.ready.value) return html`<${Loading} />`;
  const head = html`<${Head} title=${t('nav.brokers')} text=${t('brokers.text')} />`;
  if (all.length === 0) return html`${head}<div class="card"><${NoBrokers} address=${location.hostname + ':9876'} /></div>`;
  const of = (f) => [...new Set(all.map(f).filter(Boolean))].sort();
  const clear = () => setQuery({ q: '', cluster: '', state: '', source: '', zone: '' });
  return html`${head}<div class="tools"><${Filter} value=${q} label=${t('brokers.filter')} onInput=${(v) => setQuery({ q: v })} />
      <${Select} name="cluster" value=${cluster} label=${t('col.cluster')} options=${of((m) => m.clusterName)} />
      <${Select} name="state" value=${state} label=${t('col.state')} options=${['live', 'late']} text=${(s) => t('state.' + s)} />
      <${Select} name="source" value=${source} label=${t('col.source')} options=${['remoting', 'rest']} text=${(s) => t('source.' + s)} />
      ${of((m) => m.zoneName).length > 0 && html`<${Select} name="zone" value=${zone} label=${t('col.zone')} options=${of((m) => m.zoneName)} />`}</div>
    ${rows.length === 0 ? html`<div class="card"><${NoMatch} total=${all.length} onClear=${clear} /></div>`
      : html`<${DataTable} label=${t('nav.brokers')} columns=${columns()} rows=${rows} rowKey=${memberKey} rowHref=${(m) => href(['brokers', m.brokerName])} total=${all.length}
        sort=${sort} onSort=${(s) => setQuery({ sort: s === 'broker' ? '' : s })} view=${[q, cluster, state, source, zone].join('\n')}
        copy=${(m) => m.brokerAddr} rowClass=${(m) => (store.marks.has(memberKey(m)) ? 'marked' : '')} />`}`;
}
