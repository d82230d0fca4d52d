// Who we are, and the way out or in.
import { html } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { me, send, signedOut } from '../lib/api.js';
import { feed, say } from '../lib/live.js';
import { Dialog } from './dialog.js';
import { When } from './atoms.js';

export default function Account({ onClose }) {
  const who = me.value ?? {};
  const role = feed.hello.value?.role ?? who.role ?? 'none';
  const leave = async () => {
    try {
      await send('DELETE', 'session');
    } catch (err) {
      say(err.message);
      return;
    }
    feed.stop();
    location.reload();
  };
  const enter = () => {
    onClose();
    signedOut.value = true;
  };
  return html`<${Dialog} title=${t('account.title')} onClose=${onClose}>
    <dl class="kv2"><dt>${t('account.name')}</dt><dd>${who.principal ?? '–'}</dd><dt>${t('account.role')}</dt><dd>${t('role.' + role)}</dd>
      <dt>${t('account.method')}</dt><dd>${who.method ? t('method.' + who.method) : '–'}</dd>
      ${who.sessionEndsAt && html`<dt>${t('account.ends')}</dt><dd><${When} at=${who.sessionEndsAt} /></dd>`}</dl>
    <p class="muted">${t('role.' + role + '.text')}</p>
    <div class="actions"><button type="button" class="btn" autofocus onClick=${onClose}>${t('close')}</button>
      ${who.method === 'session' ? html`<button type="button" class="btn primary" onClick=${leave}>${t('account.out')}</button>`
        : html`<button type="button" class="btn primary" onClick=${enter}>${t('account.in')}</button>`}</div><//>`;
}
