// The way in: a token, or a name and a password. Both may be pasted; a password manager
// finds its fields.
import { html, useState } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { me, send, signedOut, whoami } from '../lib/api.js';
import { feed } from '../lib/live.js';
import { nextLanguage } from '../ui/shell.js';
import { Logo } from '../ui/atoms.js';

export default function Login() {
  const [way, setWay] = useState('token');
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  // Whoever may already read came here by choice and may go back.
  const optional = me.value !== null && me.value.role !== 'none';
  const enter = async (e) => {
    e.preventDefault();
    const form = new FormData(e.target);
    setBusy(true);
    setError(null);
    try {
      await send('POST', 'session', { body: way === 'token' ? { token: form.get('token').trim() } : { name: form.get('name'), password: form.get('password') } });
      await whoami();
      feed.stop();
      feed.start();
    } catch (err) {
      setError(err.status === 401 ? t('login.wrong') : err.message);
    }
    setBusy(false);
  };
  const tab = (id) => html`<button type="button" class="chip" aria-pressed=${way === id} onClick=${() => { setWay(id); setError(null); }}>${t('login.' + id)}</button>`;
  const wrong = error ? { 'aria-invalid': 'true', 'aria-describedby': 'wrong' } : {};
  return html`<main class="login" id="main" tabindex="-1"><form class="card" onSubmit=${enter}>
    <div class="row"><${Logo} size="32" /><h1 class="grow">${t('login.title')}</h1><button type="button" class="btn quiet" onClick=${nextLanguage}>${t('login.language')}</button></div>
    <p class="muted">${t('login.text')}</p>
    <div class="chips" role="group" aria-label=${t('login.way')}>${tab('token')}${tab('password')}</div>
    ${way === 'token' ? html`<input hidden name="username" autocomplete="username" value="token" /><label class="field"><span>${t('login.token')}</span><input class="in mono" name="token" type="password" required autofocus autocomplete="current-password" ...${wrong} /></label><p class="small muted">${t('login.where')}</p>`
      : html`<label class="field"><span>${t('login.name')}</span><input class="in" name="name" required autofocus autocomplete="username" ...${wrong} /></label>
        <label class="field"><span>${t('login.password')}</span><input class="in" name="password" type="password" required autocomplete="current-password" ...${wrong} /></label>`}
    ${error && html`<p class="field" id="wrong" role="alert"><span class="err">${error}</span></p>`}
    <button class="btn primary" disabled=${busy}>${t('login.enter')}</button>
    ${optional && html`<button type="button" class="btn quiet" onClick=${() => { signedOut.value = false; }}>${t('login.back')}</button>`}
  </form></main>`;
}
