// Help: the keys, and what the words mean.
import { html } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { setShortcuts, shortcuts } from '../lib/prefs.js';
import { places } from './shell.js';
import { Dialog } from './dialog.js';

const keys = [['/', 'search'], ['j / k', 'row'], ['Enter', 'open'], ['y', 'copy'], ['p', 'pause'], ['t', 'theme'], ['l', 'language'], ['?', 'help'], ['Esc', 'close']];
const words = ['route', 'lease', 'late', 'unconfirmed', 'suspect', 'wiped', 'acting', 'stale', 'revision'];

export default function Help({ onClose }) {
  return html`<${Dialog} title=${t('help.title')} wide onClose=${onClose}>
    <div class="cols"><section class="stack"><h3>${t('help.keys')}</h3>
      <dl class="kv2">${keys.map(([k, id]) => html`<dt key=${k}><kbd>${k}</kbd></dt><dd>${t('key.' + id)}</dd>`)}
        ${places.map((p) => html`<dt key=${p.id}><kbd>g</kbd> <kbd>${p.key}</kbd></dt><dd>${t('nav.' + p.id)}</dd>`)}</dl>
      <label class="check"><input type="checkbox" checked=${shortcuts.value} onChange=${(e) => setShortcuts(e.target.checked)} /><span>${t('help.single')}</span></label></section>
    <section class="stack"><h3>${t('help.words')}</h3>
      <dl class="stack">${words.map((w) => html`<div key=${w}><dt><b>${t('word.' + w)}</b></dt><dd class="muted">${t('word.' + w + '.text')}</dd></div>`)}</dl></section></div>
    <div class="actions"><button class="btn" type="button" autofocus onClick=${onClose}>${t('close')}</button></div><//>`;
}
