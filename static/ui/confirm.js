// Asking before something is changed: what will happen, how long it lasts, what it does
// not do, the same as a command, and for what hurts the name typed once.
import { html, useEffect, useId, useState } from '../vendor/preact.js';
import { rich, t } from '../lib/i18n.js';
import { curl, get, send } from '../lib/api.js';
import { say } from '../lib/live.js';
import { Dialog } from './dialog.js';
import { Code, Icon } from './atoms.js';
import { Loading } from './states.js';

/** The addresses of the other NameServers of the set. */
export const peerList = () => get('peers').then((r) => r.items.filter((p) => p.state !== 'self').map((p) => p.peer), () => []);

/**
 * @param {object} p
 * @param {string} p.title
 * @param {any} p.text what happens, in words
 * @param {string} p.action the word on the button
 * @param {boolean} [p.danger]
 * @param {string} [p.typed] what has to be typed before the button works
 * @param {{method: string, address: string, body?: any, headers?: object}} p.request
 * @param {boolean} [p.spreads] whether it can be done on the peers too
 * @param {(result: any) => any} [p.preview] draws the outcome of a dry run, which is made first
 * @param {(result: any) => string} p.done what is said afterwards
 * @param {() => void} p.onClose
 * @param {(result: any) => void} [p.onDone]
 */
export default function Confirm({ title, text, action, danger, typed, request, spreads, preview, done, onClose, onDone, wide }) {
  const [name, setName] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const [dry, setDry] = useState(preview ? null : {});
  const [others, setOthers] = useState([]);
  // A wipe on one node of three is the classic mistake, so the box is ticked.
  const [everywhere, setEverywhere] = useState(true);
  const id = useId();
  useEffect(() => { peerList().then(setOthers); }, []);
  useEffect(() => {
    if (!preview) return;
    const address = request.address + (request.address.includes('?') ? '&' : '?') + 'dryRun=true';
    send(request.method, address, { body: request.body, headers: request.headers }).then((r) => setDry(r.body ?? {}), setError);
  }, []);
  const address = spreads && everywhere && others.length ? request.address + (request.address.includes('?') ? '&' : '?') + 'fanout=peers' : request.address;
  const ready = dry !== null && (!typed || name === typed) && !busy;
  const submit = async () => {
    if (!ready) return;
    setBusy(true);
    setError(null);
    try {
      const { body } = await send(request.method, address, { body: request.body, headers: request.headers });
      const missed = body?.results?.filter((r) => r.problem) ?? [];
      // The view below may be gone with what it showed, so this is not for the dialog to say.
      if (missed.length) say(t('confirm.partly', { n: missed.length }) + t('gap') + missed.map((r) => r.peer + t('gap') + r.problem.title).join('; '), false, true);
      else say(done(body));
      onDone?.(body);
      onClose();
    } catch (err) {
      setError(err);
      setBusy(false);
    }
  };
  return html`<${Dialog} title=${title} onClose=${onClose} onSubmit=${submit} wide=${wide}>
    <div class="prose stack">${text}</div>
    ${preview && (dry ? preview(dry) : !error && html`<${Loading} lines=${2} />`)}
    ${spreads && others.length > 0 ? html`<label class="check"><input type="checkbox" checked=${everywhere} onChange=${(e) => setEverywhere(e.target.checked)} /> <span>${t('confirm.onPeers', { peers: others.join(', ') })}</span></label>`
      : html`<p class="small muted">${others.length ? t('confirm.hereOnly', { peers: others.join(', ') }) : t('confirm.here')}</p>`}
    ${typed && html`<label class="field"><span id=${id}>${rich('confirm.type', { name: html`<b class="mono">${typed}</b>` })}</span>
      <input class="in mono" value=${name} onInput=${(e) => setName(e.target.value)} autofocus autocomplete="off" spellcheck=${false} /></label>`}
    <details><summary class="small muted">${t('confirm.curl')}</summary><${Code} text=${curl(request.method, address, request.body, request.headers)} label=${t('confirm.curl')} /></details>
    ${error && html`<p role="alert" class="problem bad"><${Icon} name="warn" /><span><b>${error.title || error.code}</b> ${error.message}${error.requestId && html` <span class="faint mono small">${error.requestId}</span>`}</span></p>`}
    <div class="actions"><button type="button" class="btn" autofocus=${!typed} onClick=${onClose}>${t('cancel')}</button>
      <button class=${'btn primary' + (danger ? ' danger' : '')} disabled=${!ready}>${busy ? t('confirm.busy') : action}</button></div><//>`;
}
