// The key-value table: namespaces, keys, and an editor that never overwrites what somebody
// else has written meanwhile.
import { html, useEffect, useMemo, useState } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { go, href, route, setQuery } from '../lib/router.js';
import { curl, path as at, send, Problem } from '../lib/api.js';
import { bytes, visible } from '../lib/format.js';
import { matcher } from '../lib/find.js';
import { deleteKey } from '../lib/actions.js';
import { parseOrder, writeOrder } from '../lib/order.js';
import { isAdmin, store } from '../lib/live.js';
import { Code, Go, Head, Icon, Name } from '../ui/atoms.js';
import { Blank, Failed, Got, Loading, useGet } from '../ui/states.js';
import { Filter } from '../ui/filters.js';
import { Lazy } from '../ui/shell.js';
import { sayDone, useSpread } from '../ui/spread.js';

const order = 'ORDER_TOPIC_CONFIG';
const confirm = () => import('../ui/confirm.js');
const size = (text) => new TextEncoder().encode(text).length;

export default function KV({ path }) {
  const [, ns, key] = path;
  const { add = '' } = route.value.query;
  const spaces = useGet('kv', [store.kvMoved.value]);
  return html`<${Head} title=${t('nav.kv')} text=${t('kv.text')}>${isAdmin.value && html`<a class="btn primary" id="kv-new" href=${href(ns ? ['kv', ns] : ['kv'], { add: 'key' })}><${Icon} name="plus" size="16" />${t('kv.new')}</a>`}<//>
    <${Got} from=${spaces}>${(r) => (r.items.length === 0 && !add ? html`<div class="card"><${Blank} icon="kv" title=${t('kv.empty')} text=${t('kv.emptyText')} /></div>`
      : html`<div class="split"><nav class="card side" aria-label=${t('kv.namespaces')}>${r.items.map((n) => html`<${Go} key=${n.namespace} to=${['kv', n.namespace]} aria-current=${n.namespace === ns ? 'page' : undefined}>
          <${Name} of=${n.namespace} /><span class="faint small nowrap">${t('kv.keys', { n: n.keys })}</span><//>`)}</nav>
        <div class="stack">${add && isAdmin.value ? html`<${Editor} key="new" ns=${ns ?? ''} fresh />` : ns === undefined ? html`<div class="card"><${Blank} icon="kv" title=${t('kv.choose')} /></div>`
          : key === undefined ? html`<${Keys} ns=${ns} />` : html`<${Key} key=${ns + '\u0000' + key} ns=${ns} name=${key} />`}</div></div>`)}<//>`;
}

function Keys({ ns }) {
  const { q = '' } = route.value.query;
  const got = useGet(at('kv', ns), [store.kvMoved.value]);
  return html`<${Got} from=${got}>${(r) => {
    const all = Object.entries(r.table);
    const m = matcher(q);
    const found = all.filter(([k, v]) => m.test(k) || m.test(v)).sort((a, b) => (a[0] < b[0] ? -1 : 1));
    return html`<div class="tools"><${Filter} value=${q} label=${t('kv.filter')} onInput=${(v) => setQuery({ q: v })} /><span class="muted small">${t('table.of', { shown: found.length, n: all.length })}</span></div>
      ${all.length === 0 ? html`<div class="card"><${Blank} icon="kv" title=${t('kv.noKeys')} /></div>`
        : html`<div class="card scroll" tabindex="0" role="region" aria-label=${ns}><table class="t"><thead><tr><th scope="col">${t('kv.key')}</th><th scope="col">${t('kv.value')}</th><th scope="col" class="num">${t('kv.size')}</th></tr></thead>
        <tbody>${found.slice(0, 500).map(([k, v]) => html`<tr key=${k}><td><${Go} to=${['kv', ns, k]}><${Name} of=${k} /><//></td><td class="mono"><${Name} of=${v.length > 80 ? v.slice(0, 80) + '…' : v} /></td><td class="num">${bytes(size(v))}</td></tr>`)}</tbody></table>
        ${found.length > 500 && html`<p class="body muted">${t('kv.many', { n: found.length - 500 })}</p>`}</div>`}`;
  }}<//>`;
}

// Reads one key with the tag that a change has to name.
function Key({ ns, name }) {
  const address = at('kv', ns, name);
  const [got, set] = useState({});
  const [try_, setTry] = useState(0);
  const moved = store.kvMoved.value;
  useEffect(() => {
    let wanted = true;
    send('GET', address).then((r) => wanted && set({ value: r.body.value, etag: r.etag, revision: r.body.revision }),
      (error) => wanted && set((was) => (was.value === undefined ? { error } : error.status === 404 ? { value: null } : { ...was, error })));
    return () => { wanted = false; };
  }, [address, try_, moved]);
  const reload = () => setTry(try_ + 1);
  // Once it stands, the editor stays whatever comes of a later read: somebody may be typing.
  if (got.value !== undefined) {
    return html`${got.error && html`<div class="banner" role="status"><${Icon} name="warn" /><span>${t('failed.old')} ${got.error.message}</span><button type="button" class="btn tiny" onClick=${reload}>${t('failed.retry')}</button></div>`}
      <${Editor} ns=${ns} name=${name} now=${got} reload=${reload} />`;
  }
  if (got.error?.status === 404) return html`<${Gone} name=${name} />`;
  if (got.error) return html`<${Failed} error=${got.error} onRetry=${reload} />`;
  return html`<${Loading} lines=${3} />`;
}

function Gone({ name }) {
  return html`<div class="card"><${Blank} icon="kv" title=${t('kv.gone')} text=${t('kv.goneText', { key: name })} /></div>`;
}

// `now` is what the server has, a value of null if the key was removed; it may move while
// somebody types. What is typed is kept, and a save names the tag of the value the typing
// began with.
function Editor({ ns, name = '', now, fresh, reload }) {
  const [space, setSpace] = useState(ns || order);
  const [keyName, setKeyName] = useState(name);
  const [text, setText] = useState(now?.value ?? '');
  const [began, begin] = useState(now);
  const [conflict, setConflict] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const [asked, ask] = useState(null);
  const dirty = text !== (began?.value ?? '');
  useEffect(() => {
    // Nothing typed yet: follow the server.
    if (now && now.value !== null && now.etag !== began?.etag && !dirty) {
      begin(now);
      setText(now.value);
    }
  }, [now?.etag]);
  const moved = now && began && now.etag !== began.etag && dirty;
  const address = at('kv', space, keyName);
  const spread = useSpread(true);
  const save = async (etag) => {
    setBusy(true);
    setError(null);
    try {
      const r = await send('PUT', spread.to(address), { body: { value: text }, headers: etag ? { 'If-Match': etag } : { 'If-None-Match': '*' } });
      setConflict(null);
      sayDone(r.body, t('kv.saved', { key: keyName }) + (r.body.warnings?.length ? ' ' + r.body.warnings.map((w) => w.detail).join(' ') : ''));
      if (fresh) go(['kv', space, keyName]);
      else {
        begin({ value: text, etag: r.etag, revision: r.body.revision });
        reload();
      }
    } catch (err) {
      if (err instanceof Problem && err.status === 412) {
        try {
          const theirs = await send('GET', address);
          setConflict({ value: theirs.body.value, etag: theirs.etag, revision: theirs.body.revision });
        } catch (gone) {
          setConflict(gone.status === 404 ? { value: null } : null);
          if (gone.status !== 404) setError(gone);
        }
      } else setError(err);
    }
    setBusy(false);
  };
  const fieldError = (f) => error?.errors?.find((e) => (e.pointer ?? e.parameter ?? '').includes(f))?.detail;
  const submit = (e) => {
    e.preventDefault();
    save(began?.etag);
  };
  const admin = isAdmin.value;
  if (now?.value === null && !dirty) return html`<${Gone} name=${name} />`;
  return html`<form class="card" onSubmit=${submit}><header><h2>${fresh ? t('kv.new') : html`<${Name} of=${name} />`}</h2>
      ${!fresh && html`<span class="faint mono small">${began?.revision}</span>`}</header><div class="body stack">
    ${fresh && html`<label class="field"><span>${t('kv.namespace')}</span><input class="in mono" value=${space} required maxlength="255" onInput=${(e) => { setSpace(e.target.value); setConflict(null); }} /></label>
      <label class="field"><span>${t('kv.key')}</span><input class="in mono" value=${keyName} required maxlength="255" autofocus onInput=${(e) => { setKeyName(e.target.value); setConflict(null); }} /></label>`}
    ${space === order && html`<${OrderForm} text=${text} onText=${setText} admin=${admin} />`}
    <label class="field"><span>${t('kv.value')} <span class="hint">${bytes(size(text))}</span></span><textarea class="in" rows="5" value=${text} readonly=${!admin} spellcheck=${false} onInput=${(e) => setText(e.target.value)} aria-invalid=${fieldError('value') ? 'true' : undefined} />${fieldError('value') && html`<span class="err">${fieldError('value')}</span>`}</label>
    ${moved && !conflict && html`<p class="problem warn" role="status"><${Icon} name="warn" /><span>${t('kv.moved')}</span><button type="button" class="btn tiny" onClick=${() => setConflict(now)}>${t('kv.compare')}</button></p>`}
    ${conflict && html`<${Conflict} mine=${text} theirs=${conflict} onMine=${() => save(conflict.etag)} onTheirs=${() => { setText(conflict.value ?? ''); begin(conflict); setConflict(null); if (conflict.value === null) go(['kv', space]); else if (fresh) go(['kv', space, keyName]); }} />`}
    ${error && !fieldError('value') && html`<p class="problem bad" role="alert"><${Icon} name="warn" /><span>${error.message}</span></p>`}
    ${admin && spread.box}
    ${admin && html`<details><summary class="small muted">${t('confirm.curl')}</summary><${Code} text=${curl('PUT', spread.to(address), text, fresh ? { 'If-None-Match': '*' } : {})} label=${t('confirm.curl')} /></details>
      <div class="row"><button class="btn primary" disabled=${busy || !spread.known || !dirty && !fresh || conflict !== null}>${t('kv.save')}</button>
      ${dirty && !fresh && html`<button type="button" class="btn" onClick=${() => { setText(now.value ?? ''); begin(now); setConflict(null); }}>${t('kv.undo')}</button>`}
      ${fresh && html`<a class="btn" href=${href(ns ? ['kv', ns] : ['kv'])}>${t('cancel')}</a>`}
      ${!fresh && html`<button type="button" class="btn danger" onClick=${() => ask(deleteKey(ns, name, began.etag))}>${t('delete.do')}…</button>`}</div>`}</div>
    ${asked && html`<${Lazy} load=${confirm} ...${asked} onClose=${() => ask(null)} onDone=${() => go(['kv', ns])} />`}</form>`;
}

// Two people wrote: both values stand side by side, and a person decides.
function Conflict({ mine, theirs, onMine, onTheirs }) {
  return html`<section class="problem warn conflict" role="alertdialog" aria-label=${t('kv.conflict')}><${Icon} name="warn" /><div class="stack"><b>${t('kv.conflict')}</b>
    <div class="cols"><div class="stack tight"><h3>${t('kv.theirs')} <span class="faint mono small">${theirs.revision}</span></h3>${theirs.value === null ? html`<p>${t('kv.theirsGone')}</p>` : html`<${Code} text=${visible(theirs.value)} label=${t('kv.theirs')} />`}</div>
      <div class="stack tight"><h3>${t('kv.mine')}</h3><${Code} text=${visible(mine)} label=${t('kv.mine')} /></div></div>
    <div class="row">${theirs.value !== null && html`<button type="button" class="btn danger" id="keep-mine" onClick=${onMine}>${t('kv.keepMine')}</button>`}<button type="button" class="btn" id="keep-theirs" onClick=${onTheirs}>${t('kv.keepTheirs')}</button></div></div></section>`;
}

// The order configuration is "broker:queues;…"; a small form is easier to get right.
function OrderForm({ text, onText, admin }) {
  const rows = useMemo(() => parseOrder(text), [text]);
  if (rows === null) return html`<p class="small muted">${t('kv.orderBad')}</p>`;
  const change = (i, patch) => onText(writeOrder(rows.map((r, j) => (j === i ? { ...r, ...patch } : r))));
  const brokers = [...store.clusterOf.keys()].sort();
  return html`<fieldset class="order"><legend class="small muted">${t('kv.order')}</legend>${rows.map((r, i) => html`<div class="row" key=${i}>
      <input class="in mono" list="order-brokers" aria-label=${t('col.broker')} value=${r.broker} readonly=${!admin} onChange=${(e) => change(i, { broker: e.target.value })} />
      <input class="in" type="number" min="1" aria-label=${t('col.queues')} value=${r.queues} readonly=${!admin} onChange=${(e) => change(i, { queues: Number(e.target.value) || 1 })} />
      ${admin && html`<button type="button" class="btn quiet icon" aria-label=${t('kv.orderDrop', { broker: r.broker })} onClick=${() => onText(writeOrder(rows.filter((_, j) => j !== i)))}><${Icon} name="trash" size="16" /></button>`}</div>`)}
    <datalist id="order-brokers">${brokers.map((b) => html`<option key=${b} value=${b} />`)}</datalist>
    ${admin && html`<button type="button" class="btn tiny" onClick=${() => onText(writeOrder([...rows, { broker: brokers.find((b) => !rows.some((r) => r.broker === b)) ?? 'broker', queues: 4 }]))}><${Icon} name="plus" size="14" />${t('kv.orderAdd')}</button>`}</fieldset>`;
}
