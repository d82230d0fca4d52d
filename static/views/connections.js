// Who is connected to the remoting port, and with which versions: the page for upgrades.
import { html, useMemo } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { route, setQuery } from '../lib/router.js';
import { tick } from '../lib/clock.js';
import { matcher } from '../lib/find.js';
import { connected } from '../lib/live.js';
import { Ago, Badge, Head, Icon, Name, When } from '../ui/atoms.js';
import { Blank, Got, NoMatch, useGet } from '../ui/states.js';
import { DataTable } from '../ui/table.js';
import { Filter, Select } from '../ui/filters.js';

const kinds = ['broker', 'client', 'admin', 'unknown'];
const key = (x) => x.id;

export default function Connections() {
  const { q = '', kind = '', version = '', sort = 'address' } = route.value.query;
  // Connections come and go without being a change of the registry: the page asks.
  const beat = connected.value ? Math.floor(tick.value / 5000) : 0;
  const got = useGet('connections?limit=10000', [beat]);
  const items = got.data?.items ?? [];
  const groups = useMemo(() => {
    const out = new Map();
    for (const x of items) {
      const v = [x.language, x.version].filter(Boolean).join(' ') || '?';
      out.set(v, (out.get(v) ?? 0) + 1);
    }
    return [...out].sort((a, b) => b[1] - a[1]);
  }, [got.data]);
  const rows = useMemo(() => {
    const m = matcher(q);
    return items.filter((x) => (!kind || x.kind === kind) && (!version || ([x.language, x.version].filter(Boolean).join(' ') || '?') === version) && (m.test(x.remoteAddress) || (x.brokers ?? []).some((b) => m.test(b))));
  }, [got.data, q, kind, version]);
  const columns = [
    { id: 'address', label: t('col.address'), value: (x) => x.remoteAddress, cell: (x) => html`<span class="mono">${x.remoteAddress}</span>` },
    { id: 'kind', label: t('connections.kind'), width: '8rem', value: (x) => x.kind, cell: (x) => t('connections.kind.' + x.kind) },
    { id: 'brokers', label: t('col.broker'), width: '12rem', value: (x) => x.brokers?.[0] ?? '', cell: (x) => (x.brokers?.length ? html`<${Name} of=${x.brokers.join(', ')} />` : html`<span class="faint">–</span>`) },
    { id: 'language', label: t('col.language'), width: '7rem', value: (x) => x.language ?? '', cell: (x) => x.language || '–' },
    { id: 'version', label: t('col.version'), width: '8rem', value: (x) => x.version ?? '', cell: (x) => x.version || '–' },
    { id: 'tls', label: 'TLS', width: '5rem', value: (x) => (x.tls ? 0 : 1), cell: (x) => (x.tls ? html`<span class="row"><${Icon} name="lock" size="14" />${t('yes')}</span>` : html`<span class="faint">${t('no')}</span>`) },
    { id: 'requests', label: t('connections.requests'), width: '8rem', num: true, value: (x) => x.requests, cell: (x) => t('n', { n: x.requests }) },
    { id: 'lastName', label: t('connections.last'), width: '17rem', value: (x) => x.lastName ?? '', cell: (x) => (x.lastName ? html`<span class="mono small">${x.lastCode || ''} ${x.lastName}</span>` : '–') },
    { id: 'seen', label: t('connections.seen'), width: '8rem', num: true, value: (x) => x.lastSeenAt ?? '', cell: (x) => (x.lastSeenAt ? html`<${Ago} at=${x.lastSeenAt} />` : '–') },
    { id: 'since', label: t('connections.since'), width: '11rem', num: true, value: (x) => x.firstSeenAt, cell: (x) => html`<${When} at=${x.firstSeenAt} />` },
  ];
  return html`<${Head} title=${t('nav.connections')} text=${t('connections.text')} />
    <${Got} from=${got}>${(r) => (r.items.length === 0 ? html`<div class="card"><${Blank} icon="connections" title=${t('connections.none')} text=${t('connections.noneText')} /></div>`
      : html`<div class="tools"><${Filter} value=${q} label=${t('connections.filter')} onInput=${(v) => setQuery({ q: v })} /><${Select} name="kind" value=${kind} label=${t('connections.kind')} options=${kinds} text=${(k) => t('connections.kind.' + k)} />
          <div class="chips" role="group" aria-label=${t('connections.versions')}>${groups.slice(0, 6).map(([v, n]) => html`<button key=${v} type="button" class="chip" aria-pressed=${version === v} onClick=${() => setQuery({ version: version === v ? '' : v })}>${v}<span class="n">${t('n', { n })}</span></button>`)}</div>
          ${r.total > r.items.length && html`<${Badge} level="warn">${t('table.of', { shown: r.items.length, n: r.total })}<//>`}</div>
        ${rows.length === 0 ? html`<div class="card"><${NoMatch} total=${items.length} onClear=${() => setQuery({ q: '', kind: '', version: '' })} /></div>`
          : html`<${DataTable} label=${t('nav.connections')} columns=${columns} rows=${rows} rowKey=${key} sort=${sort} total=${items.length} onSort=${(s) => setQuery({ sort: s === 'address' ? '' : s })} view=${[q, kind, version].join('\n')} copy=${(x) => x.remoteAddress} />`}`)}<//>`;
}
