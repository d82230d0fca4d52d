// The small things that every view is made of.
import { html, useState } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { href } from '../lib/router.js';
import { tick, serverNow } from '../lib/clock.js';
import { dateTime, duration, utc, visible, when } from '../lib/format.js';
import { leftOf, stateOf } from '../lib/groups.js';
import { stale, say } from '../lib/live.js';
import { Icon } from './icons.js';

const levels = { live: 'ok', late: 'warn', expired: 'bad' };

/** A state as shape and word. Over stale data it says what was, not what is. */
export function State({ member }) {
  const state = stateOf(member, tick.value);
  if (stale.value) return html`<span class="badge"><${Icon} name="ring" size="12" />${t('state.was', { state: t('state.' + state) })}</span>`;
  return html`<span class=${'badge ' + levels[state]}><${Icon} name=${state} size="12" />${t('state.' + state)}</span>`;
}

/** A word with a level and, unless it is plain, a picture. */
export function Badge({ level = '', icon, children }) {
  return html`<span class=${'badge ' + level}>${icon && html`<${Icon} name=${icon} size="12" />`}${children}</span>`;
}

/** A name that came from a peer: any characters, isolated so that it cannot turn its line around. */
export function Name({ of }) {
  return html`<bdi class="name">${visible(of)}</bdi>`;
}

/** An instant: short on the page, whole and in UTC when asked for. */
export function When({ at }) {
  const ms = typeof at === 'number' ? at : Date.parse(at);
  if (!ms) return html`<span class="faint">–</span>`;
  return html`<time datetime=${utc(ms)} title=${dateTime(ms) + ' · ' + utc(ms)}>${when(ms, serverNow())}</time>`;
}

/** How long ago, counted each second. */
export function Ago({ at }) {
  const ms = typeof at === 'number' ? at : Date.parse(at);
  return html`<time datetime=${utc(ms)} title=${dateTime(ms) + ' · ' + utc(ms)}>${t('ago', { time: duration(tick.value - ms) })}</time>`;
}

/** The time a member has left unless it is heard of: a bar and the same in words. */
export function TimeLeft({ member }) {
  const now = tick.value;
  const left = leftOf(member, now);
  const share = Math.round((left / member.heartbeatTimeoutMillis) * 100);
  return html`<span class=${'left ' + stateOf(member, now)}><i style=${{ '--share': share + '%' }} />
    <span>${stale.value ? '–' : duration(left)}</span></span>`;
}

/** Permissions: RocketMQ's letters, with the words for whoever does not know them. */
export function Perm({ text, mixed }) {
  const words = [text[0] === 'R' && t('perm.read'), text[1] === 'W' && t('perm.write'), text[2] === 'X' && t('perm.inherit')].filter(Boolean);
  return html`<span class="mono" title=${words.join(', ') || t('perm.none')}>${text}</span>${mixed && html` <span class="badge warn">${t('perm.mixed')}</span>`}`;
}

/** A link within the dashboard. */
export function Go({ to, query, children, ...rest }) {
  return html`<a href=${href(to, query)} ...${rest}>${children}</a>`;
}

/** Puts a text on the clipboard and says so. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without TLS a browser has no clipboard for scripts; the old way still works there.
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'sr';
    const at = document.activeElement;
    (document.querySelector('dialog[open]') ?? document.body).append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
    at?.focus();
  }
  say(t('copied'));
}

/** A button that copies. */
export function Copy({ text, label }) {
  const [done, setDone] = useState(false);
  const act = () => copyText(text).then(() => {
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  });
  return html`<button type="button" class="btn quiet icon tiny" onClick=${act} aria-label=${label ?? t('copy')} title=${label ?? t('copy')}>
    <${Icon} name=${done ? 'check' : 'copy'} size="14" /></button>`;
}

/** Text to take elsewhere: a command line, a piece of JSON. */
export function Code({ text, label }) {
  return html`<div class="code"><pre tabindex="0" role="region" aria-label=${label ?? t('code')}>${text}</pre><${Copy} text=${text} /></div>`;
}

/** The small line chart of a tile. Its numbers stand beside it in words. */
export function Spark({ points }) {
  if (!points || points.length < 2) return null;
  const min = Math.min(...points);
  const max = Math.max(...points);
  const span = max - min || 1;
  const at = points.map((v, i) => `${((i / (points.length - 1)) * 100).toFixed(2)},${(34 - ((v - min) / span) * 28).toFixed(2)}`);
  return html`<svg class="spark" viewBox="0 0 100 40" preserveAspectRatio="none" aria-hidden="true">
    <path class="area" d=${`M0,40L${at.join('L')}L100,40Z`} /><path class="line" d=${'M' + at.join('L')} /></svg>`;
}

/** The head of a view. */
export function Head({ title, crumb, text, children }) {
  return html`<div class="head"><div>${crumb && html`<div class="crumb">${crumb}</div>`}<h1 tabindex="-1">${title}</h1>${text && html`<p>${text}</p>`}</div>
    ${children && html`<div class="row">${children}</div>`}</div>`;
}

/** Tabs are links: each is an address. @param {{label: string, now: string, tabs: {id: string, text: any}[], to: string[], query?: object}} p */
export function Tabs({ label, now, tabs, to, query = {} }) {
  return html`<nav class="tabs" aria-label=${label}>${tabs.map((x) => html`<a key=${x.id} href=${href(to, { ...query, tab: x.id === tabs[0].id ? '' : x.id })}
    aria-current=${x.id === now ? 'page' : undefined}>${x.text}</a>`)}</nav>`;
}
