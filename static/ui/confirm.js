// Asking before something is changed: what will happen, how long it lasts, what it does
// not do, the same as a command, and for what hurts the name typed once.
import { html, useEffect, useId, useState } from '../vendor/preact.js';
import { rich, t } from '../lib/i18n.js';
import { curl, send } from '../lib/api.js';
import { Dialog } from './dialog.js';
import { sayDone, useSpread } from './spread.js';
import { Code, Icon } from './atoms.js';
import { Loading } from './states.js';

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
  const spread = useSpread(spreads);
  const id = useId();
  useEffect(() => {
    if (!preview) return;
    const address = request.address + (request.address.includes('?') ? '&' : '?') + 'dryRun=true';
    send(request.method, address, { body: request.body, headers: request.headers }).then((r) => setDry(r.body ?? {}), setError);
  }, []);
  const address = spread.to(request.address);
  const ready = dry !== null && spread.known && (!typed || name === typed) && !busy;
  const submit = async () => {
    if (!ready) return;
    setBusy(true);
    setError(null);
    try {
      const { body } = await send(request.method, address, { body: request.body, headers: request.headers });
      // The view below may be gone with what it showed, so this is not for the dialog to say.
      sayDone(body, done(body));
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
    ${spread.box}
    ${typed && html`<label class="field"><span id=${id}>${rich('confirm.type', { name: html`<b class="mono">${typed}</b>` })}</span>
      <input class="in mono" value=${name} onInput=${(e) => setName(e.target.value)} autofocus autocomplete="off" spellcheck=${false} /></label>`}
    <details><summary class="small muted">${t('confirm.curl')}</summary><${Code} text=${curl(request.method, address, request.body, request.headers)} label=${t('confirm.curl')} /></details>
    ${error && html`<p role="alert" class="problem bad"><${Icon} name="warn" /><span><b>${error.title || error.code}</b> ${error.message}${error.requestId && html` <span class="faint mono small">${error.requestId}</span>`}</span></p>`}
    <div class="actions"><button type="button" class="btn" autofocus=${!typed} onClick=${onClose}>${t('cancel')}</button>
      <button class=${'btn primary' + (danger ? ' danger' : '')} disabled=${!ready}>${busy ? t('confirm.busy') : action}</button></div><//>`;
}
