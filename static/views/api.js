// The REST API, drawn from its own description: every call with its parameters, its answers
// and the line for a terminal; calls that only read can be tried from here.
import { html, useEffect, useMemo, useState } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { route, setQuery } from '../lib/router.js';
import { curl, send } from '../lib/api.js';
import { address, deref, example, operations, typeOf } from '../lib/openapi.js';
import { matcher } from '../lib/find.js';
import { isAdmin } from '../lib/live.js';
import { Badge, Code, Head, Icon } from '../ui/atoms.js';
import { Failed, Loading, NoMatch } from '../ui/states.js';
import { Filter } from '../ui/filters.js';

const levels = { GET: 'info', PUT: 'warn', POST: 'warn', PATCH: 'warn', DELETE: 'bad' };

export default function API() {
  const { q = '', op = '' } = route.value.query;
  const [state, setState] = useState({});
  const [try_, setTry] = useState(0);
  useEffect(() => {
    send('GET', '../../openapi.json').then((r) => setState({ spec: r.body }), (error) => setState({ error }));
  }, [try_]);
  const tags = useMemo(() => (state.spec ? operations(state.spec) : []), [state.spec]);
  const head = html`<${Head} title=${t('nav.api')} text=${t('api.text')}><a class="btn" href="../openapi.json" download><${Icon} name="download" size="16" />openapi.json</a><//>`;
  if (state.error) return html`${head}<${Failed} error=${state.error} onRetry=${() => setTry(try_ + 1)} />`;
  if (!state.spec) return html`${head}<${Loading} />`;
  const m = matcher(q);
  const found = tags.map(([tag, list]) => [tag, list.filter((o) => m.test(o.path) || m.test(o.op.summary ?? '') || m.test(o.method))]).filter(([, list]) => list.length > 0);
  const total = tags.reduce((n, [, l]) => n + l.length, 0);
  return html`${head}<div class="tools"><${Filter} value=${q} label=${t('api.filter')} onInput=${(v) => setQuery({ q: v })} /><span class="muted small">${t('api.count', { n: total })}</span></div>
    ${found.length === 0 && html`<div class="card"><${NoMatch} total=${total} onClear=${() => setQuery({ q: '' })} /></div>`}
    ${found.map(([tag, list]) => html`<section key=${tag} class="stack tight"><h2>${tag}</h2>${list.map((o) => html`<${Operation} key=${o.id} spec=${state.spec} o=${o} open=${op === o.id} />`)}</section>`)}`;
}

function Operation({ spec, o, open }) {
  const toggle = () => setQuery({ op: open ? '' : o.id });
  return html`<article class=${open ? 'event api open' : 'event api'}><button type="button" class="head" aria-expanded=${open} onClick=${toggle}><${Badge} level=${levels[o.method]}>${o.method}<//><span class="grow"><code>${o.path}</code> <span class="muted">${o.op.summary ?? ''}</span></span><${Icon} name=${open ? 'up' : 'down'} size="14" /></button>
    ${open && html`<${Opened} spec=${spec} o=${o} />`}</article>`;
}

function Opened({ spec, o }) {
  const [values, setValues] = useState(() => Object.fromEntries(o.parameters.filter((p) => p.in === 'path').map((p) => [p.name, String(p.example ?? deref(spec, p.schema).example ?? '')])));
  const [body, setBody] = useState(() => (o.body ? JSON.stringify(o.body.example ?? example(spec, o.body.schema), null, 2) : undefined));
  const [answer, setAnswer] = useState(null);
  const [sure, setSure] = useState(false);
  const where = '../../' + address(o, values);
  const reads = o.method === 'GET' && !/\/watch|\/ws$/.test(o.path);
  const call = async () => {
    setAnswer(null);
    try {
      const r = await send(o.method, where, { body: body === undefined ? undefined : JSON.parse(body), type: o.body?.type });
      setAnswer({ status: r.status, text: typeof r.body === 'string' ? r.body : JSON.stringify(r.body, null, 2) });
    } catch (err) {
      setAnswer({ status: err.status ?? '', text: err.code ? err.code + ': ' + err.message : String(err) });
    }
    setSure(false);
  };
  const shown = o.parameters.filter((p) => p.in === 'path' || p.in === 'query' || p.in === 'header');
  return html`<div class="body"><p>${o.op.description ?? ''}</p>
    ${shown.length > 0 && html`<div class="scroll"><table class="t"><thead><tr><th scope="col">${t('api.parameter')}</th><th scope="col">${t('api.in')}</th><th scope="col">${t('api.type')}</th><th scope="col">${t('api.value')}</th><th scope="col">${t('config.doc')}</th></tr></thead>
      <tbody>${shown.map((p) => html`<tr key=${p.in + p.name}><td><code>${p.name}</code>${p.required && html` <span class="faint">*</span>`}</td><td>${p.in}</td><td class="faint">${typeOf(spec, p.schema)}</td>
        <td>${p.in !== 'header' && html`<input class="in" aria-label=${p.name} value=${values[p.name] ?? ''} onInput=${(e) => setValues({ ...values, [p.name]: e.target.value })} />`}</td><td>${p.description ?? ''}</td></tr>`)}</tbody></table></div>`}
    ${body !== undefined && html`<label class="field"><span>${t('api.body')} <span class="hint">${o.body.type}</span></span><textarea class="in" rows="8" spellcheck=${false} value=${body} onInput=${(e) => setBody(e.target.value)} /></label>`}
    <${Code} text=${curl(o.method, where, body && compact(body), body !== undefined ? { 'Content-Type': o.body.type } : {})} label="curl" />
    <div class="row">${reads && html`<button type="button" class="btn" onClick=${call}>${t('api.send')}</button>`}
      ${!reads && isAdmin.value && o.method !== 'GET' && (sure ? html`<button type="button" class="btn danger" onClick=${call}>${t('api.sure', { method: o.method })}</button><button type="button" class="btn" onClick=${() => setSure(false)}>${t('cancel')}</button>` : html`<button type="button" class="btn" onClick=${() => setSure(true)}>${t('api.send')}…</button>`)}</div>
    ${answer && html`<div role="status"><p class="small muted">${t('api.answer', { status: answer.status })}</p><${Code} text=${answer.text.length > 20_000 ? answer.text.slice(0, 20_000) + '\n…' : answer.text || '–'} label=${t('api.answer', { status: answer.status })} /></div>`}
    ${o.op['x-websocket'] && html`<${Messages} spec=${spec} of=${o.op['x-websocket']} />`}
    <h3>${t('api.answers')}</h3><div class="scroll"><table class="t"><tbody>${Object.entries(o.op.responses ?? {}).map(([status, r]) => {
      const x = deref(spec, r);
      return html`<tr key=${status}><td><${Badge} level=${status < 300 ? 'ok' : status < 400 ? 'info' : 'bad'}>${status}<//></td><td>${x.description ?? ''}</td><td class="faint mono small">${Object.keys(x.content ?? {}).join(', ')}</td></tr>`;
    })}</tbody></table></div></div>`;
}

// What a websocket carries, each way.
function Messages({ spec, of }) {
  return [[t('api.toServer'), of.receives], [t('api.fromServer'), of.sends]].map(([title, schema]) => {
    const s = deref(spec, schema);
    return html`<h3 key=${title}>${title}</h3><p>${s.description ?? ''}</p><div class="scroll" tabindex="0" role="region" aria-label=${title}><table class="t top"><thead><tr><th scope="col">${t('api.field')}</th><th scope="col">${t('api.type')}</th><th scope="col">${t('config.doc')}</th></tr></thead>
      <tbody>${Object.entries(s.properties ?? {}).map(([name, p]) => html`<tr key=${name}><td><code>${name}</code>${s.required?.includes(name) && html` <span class="faint">*</span>`}</td><td class="faint">${typeOf(spec, p)}</td>
        <td>${p.description ?? deref(spec, p).description ?? ''}</td></tr>`)}</tbody></table></div>`;
  });
}

// The body on one line, if it is JSON yet.
function compact(text) {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
