// All topics in one table. Everything it filters by is in the address.
import { html, useMemo, useState } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { href, route, setQuery } from '../lib/router.js';
import { matcher } from '../lib/find.js';
import { permText } from '../lib/format.js';
import { types } from '../lib/model.js';
import { table, download } from '../lib/export.js';
import { hiddenColumns, storeHiddenColumns } from '../lib/prefs.js';
import { store } from '../lib/live.js';
import { Badge, Go, Head, Icon, Name, Perm, When } from '../ui/atoms.js';
import { DataTable } from '../ui/table.js';
import { Blank, Loading, NoBrokers, NoMatch } from '../ui/states.js';
import { Filter, Select } from '../ui/filters.js';
import { Menu } from '../ui/menu.js';

/** A permission that changed a moment ago says so for a while. */
function Changed({ topic }) {
  const mark = store.marks.get(topic.name)?.change;
  if (mark?.op !== 'changed' || mark.before?.perm === undefined || mark.after?.perm === undefined) return null;
  return html` <span class="badge info">${permText(mark.before.perm)} → ${permText(mark.after.perm)}</span>`;
}

// Cells call what draws names and times instead of naming it: thousands of rows pass by
// while somebody scrolls, and a component for each word would cost more than the word.
const columns = () => [
  { id: 'topic', label: t('col.topic'), value: (x) => x.name, cell: (x) => Go({ to: ['topics', x.name], children: Name({ of: x.name }) }), text: (x) => x.name },
  { id: 'type', label: t('col.type'), width: '7.25rem', value: (x) => store.typeOf(x.name), cell: (x) => t('type.' + store.typeOf(x.name)), text: (x) => store.typeOf(x.name) },
  { id: 'message', label: t('col.message'), width: '8.75rem', value: (x) => x.messageType, cell: (x) => x.messageType || html`<span class="faint">NORMAL</span>`, text: (x) => x.messageType || 'NORMAL' },
  { id: 'clusters', label: t('col.clusters'), width: '9.25rem', value: (x) => store.clustersOf(x).join(), cell: (x) => Name({ of: store.clustersOf(x).join(', ') }), text: (x) => store.clustersOf(x).join(' ') },
  { id: 'brokers', label: t('col.brokers'), width: '5rem', num: true, value: (x) => x.queues.length, cell: (x) => t('n', { n: x.queues.length }), text: (x) => x.queues.length },
  { id: 'queues', label: t('col.queues'), width: '7rem', num: true, value: (x) => x.writeQueues, cell: (x) => t('n', { n: x.writeQueues }) + ' / ' + t('n', { n: x.readQueues }), text: (x) => x.writeQueues + '/' + x.readQueues },
  { id: 'perm', label: t('col.perm'), width: '8rem', value: (x) => x.permText, cell: (x) => [Perm({ text: x.permText, mixed: x.permMixed }), Changed({ topic: x })], text: (x) => x.permText },
  { id: 'flags', label: t('col.flags'), width: '5.5rem', value: (x) => Number(x.order) + Number(x.unit) + Number(x.unitSub) + Number(x.mapping), cell: (x) => flagsOf(x).map((f) => html`<${Badge} key=${f}>${t('flag.' + f)}<//>`), text: (x) => flagsOf(x).join(' ') },
  { id: 'updated', label: t('col.updated'), width: '6.5rem', num: true, value: (x) => x.updatedAt, cell: (x) => When({ at: x.updatedAt }), text: (x) => new Date(x.updatedAt).toISOString() },
];

export const flagsOf = (x) => ['order', 'unit', 'unitSub', 'mapping'].filter((f) => x[f]);

const key = (x) => x.name;

export default function Topics() {
  const { q = '', type = '', cluster = '', broker = '', sort = 'topic' } = route.value.query;
  const moved = store.topicsMoved.value;
  const names = store.namesMoved.value;
  const [hidden, setHidden] = useState(() => hiddenColumns('topics'));
  const all = useMemo(() => [...store.topics.values()], [moved]);
  // The system's own topics are hidden until asked for.
  const wanted = type ? new Set(type.split(',')) : new Set(types.filter((x) => x !== 'system'));
  const name = useMemo(() => matcher(q), [q]);
  const { rows, counts } = useMemo(() => {
    const found = Object.fromEntries(types.map((x) => [x, 0]));
    const out = [];
    for (const x of all) {
      if (!name.test(x.name)) continue;
      if (broker && !x.queues.some((p) => p.brokerName === broker)) continue;
      if (cluster && !x.queues.some((p) => store.clusterOf.get(p.brokerName) === cluster)) continue;
      const of = store.typeOf(x.name);
      found[of]++;
      if (wanted.has(of)) out.push(x);
    }
    return { rows: out, counts: found };
  }, [all, names, name, type, cluster, broker]);
  if (!store.ready.value) return html`<${Loading} />`;
  const shown = columns().filter((c) => !hidden.has(c.id));
  const head = html`<${Head} title=${t('nav.topics')} text=${t('topics.text')}>
    <${Menu} label=${t('columns')} icon="columns">${columns().slice(1).map((c) => html`<label key=${c.id} class="check"><input type="checkbox" checked=${!hidden.has(c.id)}
      onChange=${(e) => { const next = new Set(hidden); e.target.checked ? next.delete(c.id) : next.add(c.id); setHidden(next); storeHiddenColumns('topics', next); }} /><span>${c.label}</span></label>`)}<//>
    <${Menu} label=${t('download')} icon="download"><button type="button" class="btn quiet" onClick=${() => download('topics.csv', 'text/csv', table(columns(), rows))}>CSV</button>
      <button type="button" class="btn quiet" onClick=${() => download('topics.json', 'application/json', JSON.stringify(rows.map((x) => ({ topic: x.name, type: store.typeOf(x.name), clusters: store.clustersOf(x), queueDatas: x.queues })), null, 2))}>JSON</button><//><//>`;
  if (all.length === 0) {
    return html`${head}<div class="card">${store.members.size === 0 ? html`<${NoBrokers} address=${location.hostname + ':9876'} />`
      : html`<${Blank} icon="topics" title=${t('empty.topics')} text=${t('empty.topicsText')} />`}</div>`;
  }
  const toggle = (x) => {
    const next = new Set(wanted);
    if (next.has(x) && next.size > 1) next.delete(x);
    else next.add(x);
    setQuery({ type: next.size === types.length - 1 && !next.has('system') ? '' : types.filter((y) => next.has(y)).join(',') });
  };
  const clear = () => setQuery({ q: '', type: '', cluster: '', broker: '' });
  return html`${head}<div class="tools"><${Filter} value=${q} label=${t('topics.filter')} error=${name.error && t('filter.regexp', { error: name.error })} onInput=${(v) => setQuery({ q: v })} />
      <div class="chips" role="group" aria-label=${t('topics.types')}>${types.filter((x) => counts[x] > 0 || wanted.has(x) && ['normal', 'retry', 'dlq'].includes(x) || x === 'system').map((x) => html`<button key=${x} type="button" class="chip"
        aria-pressed=${wanted.has(x)} onClick=${() => toggle(x)}>${t('type.' + x)}<span class="n">${t('n', { n: counts[x] })}</span></button>`)}</div>
      <${Select} name="cluster" value=${cluster} label=${t('col.cluster')} options=${[...new Set(store.clusterOf.values())].sort()} />
      <${Select} name="broker" value=${broker} label=${t('col.broker')} options=${[...store.clusterOf.keys()].sort()} /></div>
    ${rows.length === 0 ? html`<div class="card"><${NoMatch} total=${all.length} onClear=${clear} /></div>`
      : html`<${DataTable} label=${t('nav.topics')} columns=${shown} rows=${rows} rowKey=${key} rowHref=${(x) => href(['topics', x.name])} total=${all.length}
        sort=${sort} onSort=${(s) => setQuery({ sort: s === 'topic' ? '' : s })} view=${[q, type, cluster, broker].join('\n')} rowClass=${(x) => (store.marks.has(x.name) ? 'marked' : '')} />`}`;
}
