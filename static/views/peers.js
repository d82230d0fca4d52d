// The other NameServers of the set, as configured. They share nothing with this one: each
// broker registers with every one of them, and a change made here is made here alone.
import { html } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { Code, Copy, Head, Icon } from '../ui/atoms.js';
import { Blank, Got, useGet } from '../ui/states.js';
import { store } from '../lib/live.js';

export default function Peers() {
  const got = useGet('config', [store.configMoved.value]);
  return html`<${Head} title=${t('nav.peers')} text=${t('peers.text')} /><${Got} from=${got}>${(c) => {
    const item = c.items.find((i) => i.key === 'peers');
    const list = (item?.value ?? '').split(/[;,\s]+/).filter(Boolean);
    if (list.length === 0) return html`<div class="card"><${Blank} icon="peers" title=${t('peers.none')} text=${t('peers.noneText')}><${Code} text="peers=10.0.0.2:9876;10.0.0.3:9876" label=${t('peers.example')} /><//></div>`;
    return html`<div class="card scroll" tabindex="0" role="region" aria-label=${t('nav.peers')}><table class="t"><thead><tr><th scope="col">${t('peers.address')}</th><th scope="col">${t('config.source')}</th><th scope="col"><span class="sr">${t('col.actions')}</span></th></tr></thead>
      <tbody>${list.map((p) => html`<tr key=${p}><td class="mono">${p}</td><td>${t('config.from.' + item.source)}</td><td class="num"><${Copy} text=${p} label=${t('copy.address')} /></td></tr>`)}</tbody></table></div>
      <p class="problem info"><${Icon} name="info" /><span>${t('peers.note')}</span></p>`;
  }}<//>`;
}
