// Leftovers: topics that a broker no longer names, that nobody can write to, or whose
// broker has lost its master. Whatever is removed is shown first.
import { html, useEffect, useMemo, useRef, useState } from '../vendor/preact.js';
import { rich, t } from '../lib/i18n.js';
import { href, route, setQuery } from '../lib/router.js';
import { path as at, send } from '../lib/api.js';
import { tick } from '../lib/clock.js';
import { duration } from '../lib/format.js';
import { matcher } from '../lib/find.js';
import { isAdmin, say, store } from '../lib/live.js';
import { Badge, Go, Head, Icon, Name, When } from '../ui/atoms.js';
import { Blank, Got, NoMatch, useGet } from '../ui/states.js';
import { DataTable } from '../ui/table.js';
import { Filter, Select } from '../ui/filters.js';
import { Dialog } from '../ui/dialog.js';

const reasons = ['not-in-last-registration', 'broker-unknown', 'no-master', 'read-only-everywhere'];
const key = (x) => x.topic + '\u0000' + x.brokerName + '\u0000' + x.reason;
const most = 10_000;

export default function Stale() {
  const { q = '', reason = '', sort = 'topic' } = route.value.query;
  // The list is worked out on the server; asking again every few seconds of change is enough.
  const beat = Math.floor(tick.value / 15_000);
  const got = useGet(`stale-topics?limit=${most}`, [beat]);
  const [picked, pick] = useState(new Set());
  const [asked, ask] = useState(false);
  const items = got.data?.items ?? [];
  const rows = useMemo(() => { const m = matcher(q); return items.filter((x) => (!reason || x.reason === reason) && m.test(x.topic)); }, [got.data, q, reason]);
  const removable = rows.filter((x) => x.removable);
  const chosen = items.filter((x) => picked.has(key(x)));
  const all = removable.length > 0 && removable.every((x) => picked.has(key(x)));
  const turn = (x, on) => {
    const next = new Set(picked);
    if (on) next.add(key(x));
    else next.delete(key(x));
    pick(next);
  };
  const columns = [
    { id: 'topic', label: t('col.topic'), value: (x) => x.topic, cell: (x) => html`<${Go} to=${['topics', x.topic]}><${Name} of=${x.topic} /><//>` },
    ...(isAdmin.value ? [{ id: 'pick', width: '3.5rem', label: html`<span class="sr">${t('stale.pick')}</span>`, cell: (x) => x.removable && html`<input type="checkbox" class="tick" checked=${picked.has(key(x))} aria-label=${t('stale.pickOne', { topic: x.topic, broker: x.brokerName })} onChange=${(e) => turn(x, e.target.checked)} />` }] : []),
    { id: 'broker', label: t('col.broker'), width: '14rem', value: (x) => x.brokerName, cell: (x) => html`<${Go} to=${['brokers', x.brokerName]}><${Name} of=${x.brokerName} /><//>` },
    { id: 'reason', label: t('stale.reason'), width: '19rem', value: (x) => x.reason, cell: (x) => html`<${Badge} level=${x.removable ? 'info' : 'warn'}>${t('stale.' + x.reason)}<//>` },
    { id: 'since', label: t('stale.since'), width: '11rem', num: true, value: (x) => x.sinceAt ?? '', cell: (x) => (x.sinceAt ? html`<${When} at=${x.sinceAt} />` : '–') },
    { id: 'age', label: t('stale.age'), width: '6rem', num: true, value: (x) => -Date.parse(x.sinceAt ?? 0), cell: (x) => (x.sinceAt ? duration(tick.value - Date.parse(x.sinceAt)) : '–') },
  ];
  return html`<${Head} title=${t('nav.stale')} text=${t('stale.text')}>${isAdmin.value && html`<button type="button" class="btn" disabled=${removable.length === 0} onClick=${() => pick(new Set(all ? [] : removable.map(key)))}>${all ? t('stale.none') : t('stale.all', { n: removable.length })}</button>
      <button type="button" class="btn danger" id="stale-check" disabled=${chosen.length === 0} onClick=${() => ask(true)}>${t('stale.check', { n: chosen.length })}…</button>`}<//>
    <${Got} from=${got}>${(r) => (r.items.length === 0 ? html`<div class="card"><${Blank} icon="check" title=${t('stale.clean')} text=${t('stale.cleanText')} /></div>`
      : html`<div class="tools"><${Filter} value=${q} label=${t('topics.filter')} onInput=${(v) => setQuery({ q: v })} /><${Select} name="reason" value=${reason} label=${t('stale.reason')} options=${reasons.filter((x) => r.items.some((i) => i.reason === x))} text=${(x) => t('stale.' + x)} /></div>
        ${rows.length === 0 ? html`<div class="card"><${NoMatch} total=${r.items.length} onClear=${() => setQuery({ q: '', reason: '' })} /></div>`
          : html`<${DataTable} label=${t('nav.stale')} columns=${columns} rows=${rows} rowKey=${key} rowHref=${(x) => href(['topics', x.topic])} sort=${sort} total=${r.total} onSort=${(s) => setQuery({ sort: s === 'topic' ? '' : s })} view=${q + '\n' + reason} />`}`)}<//>
    ${asked && html`<${Remove} parts=${chosen} onClose=${() => ask(false)} onDone=${(gone) => { pick(new Set(chosen.filter((x) => !gone.includes(x)).map(key))); got.retry(); }} />`}`;
}

// Each part is removed by itself: what was asked about goes, and nothing that became stale
// meanwhile. After a failure the rest stands there to go on with; closing ends it.
function Remove({ parts, onClose, onDone }) {
  const [checked, setChecked] = useState(null);
  const [error, setError] = useState(null);
  const [done, setDone] = useState(null); // how many of those under way, null while none are
  const open = useRef(true);
  useEffect(() => () => { open.current = false; }, []);
  const list = checked ?? parts;
  const run = async () => {
    const dry = !checked;
    const out = [];
    let rest = [];
    setError(null);
    for (const [i, x] of list.entries()) {
      if (!open.current) break;
      setDone(i);
      try {
        const { body } = await send('DELETE', at('topics', x.topic, 'brokers', x.brokerName) + (dry ? '?dryRun=true' : ''));
        out.push({ ...x, returns: body.mayReturnFrom?.length > 0 });
      } catch (err) {
        if (err.status === 404) continue; // it went by itself
        setError(err);
        rest = list.slice(i);
        break;
      }
    }
    setDone(null);
    if (dry) {
      if (rest.length === 0) setChecked(out);
      return;
    }
    store.flush();
    onDone(out);
    if (rest.length) setChecked(rest);
    else say(t('stale.done', { n: out.length }));
    if (!rest.length && open.current) onClose();
  };
  return html`<${Dialog} title=${t('stale.title')} wide onClose=${onClose} onSubmit=${run}>
    <p>${t('stale.explain')}</p>
    ${checked ? html`<div class="scroll tallbox" tabindex="0" role="region" aria-label=${t('stale.would')}><table class="t"><thead><tr><th scope="col">${t('col.topic')}</th><th scope="col">${t('col.broker')}</th><th scope="col">${t('stale.outcome')}</th></tr></thead>
        <tbody>${checked.map((x) => html`<tr key=${key(x)}><td><${Name} of=${x.topic} /></td><td><${Name} of=${x.brokerName} /></td><td>${x.returns ? html`<${Badge} level="warn">${t('stale.returns')}<//>` : html`<${Badge} level="ok" icon="check">${t('stale.stays')}<//>`}</td></tr>`)}</tbody></table></div>`
      : html`<p class="muted">${rich('stale.first', { n: html`<b>${parts.length}</b>` })}</p>`}
    ${done !== null && html`<progress max=${list.length} value=${done} aria-label=${t('stale.progress')} />`}
    ${error && html`<p role="alert" class="problem bad"><${Icon} name="warn" /><span>${error.message}</span></p>`}
    <div class="actions"><button type="button" class="btn" autofocus onClick=${onClose}>${t('cancel')}</button>
      ${checked ? html`<button class="btn primary danger" disabled=${done !== null}>${t('stale.remove', { n: checked.length })}</button>` : html`<button class="btn primary" disabled=${done !== null}>${t('stale.dry')}</button>`}</div><//>`;
}
