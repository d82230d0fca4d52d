// Change sets, newest first, each opening to its fields before and after. New ones come by
// the feed; older ones are read page by page.
import { html, useEffect, useMemo, useState } from '../vendor/preact.js';
import { has, t } from '../lib/i18n.js';
import { route, setQuery } from '../lib/router.js';
import { get, path as at } from '../lib/api.js';
import { fields } from '../lib/describe.js';
import { time, visible } from '../lib/format.js';
import { store } from '../lib/live.js';
import { describe } from '../lib/describe.js';
import { Actor, keyOf, Subject } from './changes.js';
import { Badge, Code, Icon, Name, When } from './atoms.js';
import { Blank, Failed, Loading } from './states.js';

export const kinds = ['member', 'topic', 'writePerm', 'kv', 'config', 'cluster', 'peer', 'server'];
const page = 100;

const touches = (set, want) => (!want.kind || set.changes.some((c) => c.kind === want.kind))
  && (!want.topic || set.changes.some((c) => c.topic === want.topic)) && (!want.broker || set.changes.some((c) => c.brokerName === want.broker))
  && (!want.actor || (set.cause?.actor ?? '').includes(want.actor)) && (!want.face || set.cause?.face === want.face);

/** @param {{fixed?: object, want?: object, frozen?: any[]|null}} props `fixed` cannot be changed here */
export function Events({ fixed = {}, want = {}, until = '' }) {
  const all = { ...want, ...fixed };
  const query = new URLSearchParams({ limit: String(page) });
  for (const k of ['kind', 'topic', 'broker', 'actor']) if (all[k]) query.set(k, all[k]);
  if (until) query.set('until', until);
  const [past, setPast] = useState({ items: null, next: '', error: null, of: '' });
  const [try_, setTry] = useState(0);
  const moved = store.eventsMoved.value;
  const base = 'events?' + query;
  useEffect(() => {
    let wanted = true;
    get(base).then((r) => wanted && setPast({ items: r.items, next: r.next, error: null, of: base }), (error) => wanted && setPast({ items: null, error, of: base }));
    return () => { wanted = false; };
  }, [base, try_]);
  const [asked, ask] = useState({ of: base, room: 2 * page });
  const room = asked.of === base ? asked.room : 2 * page;
  const { items, next, error } = past.of === base ? past : {};
  const list = useMemo(() => {
    const live = until ? [] : store.events.filter((e) => e.gap || touches(e, all)).reverse();
    const known = new Set(live.filter((e) => !e.gap).map(keyOf));
    return [...live, ...(items ?? []).filter((s) => !known.has(keyOf(s)) && (!all.face || s.cause?.face === all.face))];
  }, [moved, past, base, all.face]);
  const { open = '' } = route.value.query;
  if (past.of !== base && list.length === 0) return html`<${Loading} />`;
  const again = () => setTry(try_ + 1);
  if (error && list.length === 0) return html`<${Failed} error=${error} onRetry=${again} />`;
  if (list.length === 0) return html`<div class="card"><${Blank} icon="events" title=${t('events.none')} text=${t('events.noneText')} /></div>`;
  // A thousand open boxes help nobody; the rest is a page away: here, or at the server. Its
  // answer counts if nothing else was asked since, nor the same twice.
  const shown = list.slice(0, room);
  const older = () => {
    ask({ of: base, room: room + page });
    if (!next || list.length >= room + page) return;
    const mine = (p) => p.of === base && p.next === next;
    get(base + '&after=' + encodeURIComponent(next)).then(
      (r) => setPast((p) => (mine(p) ? { ...p, items: [...p.items, ...r.items], next: r.next, error: null } : p)), (err) => setPast((p) => (mine(p) ? { ...p, error: err } : p)));
  };
  return html`<div class="stack tight">${shown.map((set) => (set.gap ? html`<p key=${'gap' + set.time} class="gap">${t('events.gap', { time: time(Date.parse(set.time)) })}</p>`
      : html`<${Set_} key=${keyOf(set)} set=${set} open=${open === set.revision} />`))}</div>
    ${error && html`<p class="problem bad" role="alert"><${Icon} name="warn" /><span>${error.message}</span>${!items && html`<button type="button" class="btn tiny" onClick=${again}>${t('failed.retry')}</button>`}</p>`}
    ${(next || list.length > room) && html`<div class="row"><button type="button" class="btn" onClick=${older}>${t('events.older')}</button></div>`}`;
}

function Set_({ set, open }) {
  const d = describe(set);
  const toggle = () => setQuery({ open: open ? '' : set.revision });
  // The whole head opens it for a pointer; the button does for a keyboard.
  const click = (e) => { if (!e.target.closest('a, button') && !getSelection().toString()) toggle(); };
  return html`<article class=${open ? 'event open' : 'event'}><header onClick=${click}><${When} at=${set.time} /><${Icon} name=${d.icon} size="16" /><span><${Subject} set=${set} /><br /><${Actor} set=${set} /></span>
      <span class="mono faint small">${set.revision}</span><button type="button" class="btn quiet icon tiny" aria-expanded=${open} aria-label=${t('events.open', { revision: set.revision })} onClick=${toggle}><${Icon} name=${open ? 'up' : 'down'} size="14" /></button></header>
    ${open && html`<${Opened} set=${set} />`}</article>`;
}

function Opened({ set }) {
  const [all, setAll] = useState(null);
  const [error, setError] = useState(null);
  const address = at('events', set.revision);
  const changes = all ? all.changes : set.changes;
  const more = () => get(address + '?limit=200' + (all?.next ? '&after=' + encodeURIComponent(all.next) : '')).then(
    (r) => setAll({ changes: [...(all?.changes ?? []), ...r.changes], next: r.next, total: r.total }), setError);
  return html`<div class="body"><dl class="facts"><div><dt>${t('events.revision')}</dt><dd class="mono">${set.revision}</dd></div><div><dt>${t('events.face')}</dt><dd>${has('face.' + set.cause?.face) ? t('face.' + set.cause.face) : set.cause?.face}</dd></div>
      <div><dt>${t('events.action')}</dt><dd class="mono">${set.cause?.action || '–'}</dd></div><div><dt>${t('events.actor')}</dt><dd class="mono">${set.cause?.actor || '–'}</dd></div>
      ${set.cause?.requestId && html`<div><dt>${t('events.request')}</dt><dd class="mono">${set.cause.requestId}</dd></div>`}</dl>
    ${changes.map((c, i) => html`<${Change} key=${i} c=${c} />`)}
    ${error && html`<p class="problem bad" role="alert"><${Icon} name="warn" /><span>${error.message}</span></p>`}
    ${(set.truncated && !all || all?.next) && html`<div class="row"><button type="button" class="btn tiny" onClick=${more}>${t('events.more')}</button><span class="faint small">${t('events.shown', { shown: changes.length, n: Object.values(set.counts).reduce((a, b) => a + b, 0) })}</span></div>`}
    <details><summary class="small muted">JSON</summary><${Code} text=${JSON.stringify(set, null, 2)} label="JSON" /></details></div>`;
}

/** One change: field, before, after, in words and columns as well as colours. */
function Change({ c }) {
  const name = [c.topic, c.brokerName !== undefined && c.brokerName + (c.brokerId === undefined ? '' : '/' + c.brokerId), c.namespace !== undefined && c.namespace + '/' + c.key, c.kind === 'config' && c.key, c.kind === 'cluster' && c.cluster].filter(Boolean).join(' · ');
  const rows = fields(c);
  return html`<div><p class="row"><${Badge} level=${{ created: 'ok', restored: 'ok', deleted: 'bad', expired: 'bad', disconnected: 'bad', rejected: 'bad', wiped: 'warn' }[c.op] ?? 'info'}>${has('op.' + c.op) ? t('op.' + c.op) : c.op}<//>
      <span class="muted">${has('kind.' + c.kind) ? t('kind.' + c.kind) : c.kind}</span> <b><${Name} of=${name} /></b>${c.topicCount !== undefined && html`<span class="muted">${t('overview.topics', { n: c.topicCount })}</span>`}</p>
    ${c.detail && html`<p class="muted">${c.code && html`<code>${c.code}</code> `}${visible(c.detail)}</p>`}
    ${rows.length > 0 && html`<table class="diff"><thead><tr><th scope="col">${t('diff.field')}</th><th scope="col">${t('diff.before')}</th><th scope="col">${t('diff.after')}</th></tr></thead>
      <tbody>${rows.map((r) => html`<tr key=${r.field}><th scope="row">${visible(r.field)}</th><td class=${r.before === null ? '' : 'was'}>${r.before === null ? html`<span class="faint">–</span>` : html`<del>− ${visible(r.before)}</del>`}</td>
        <td class=${r.after === null ? '' : 'now'}>${r.after === null ? html`<span class="faint">–</span>` : html`<ins>+ ${visible(r.after)}</ins>`}</td></tr>`)}</tbody></table>`}</div>`;
}
