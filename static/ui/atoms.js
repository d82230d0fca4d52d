// The small things that every view is made of: pictures, states, names, times, links.
import { html, useState } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { href } from '../lib/router.js';
import { tick, serverNow } from '../lib/clock.js';
import { dateTime, duration, utc, visible, when } from '../lib/format.js';
import { leftOf, stateOf } from '../lib/model.js';
import { asOf, say, stale } from '../lib/live.js';

// Pictures are drawn, not loaded: strokes on a 20 by 20 grid in the colour of the text.
// They only accompany words or carry a label, so a screen reader passes over them.
const strokes = {
  overview: 'M3 10 10 3.5 17 10M5 8.5v8h10v-8',
  clusters: 'M3.5 3.5h5v5h-5zM11.5 3.5h5v5h-5zM3.5 11.5h5v5h-5zM11.5 11.5h5v5h-5z',
  brokers: 'M3.5 4h13v5h-13zM3.5 11h13v5h-13zM6.5 6.5h.1M6.5 13.5h.1',
  topics: 'M4 5.5h12M4 10h12M4 14.5h7',
  stale: 'M10 3.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM10 6.5V10l2.5 1.5',
  conflicts: 'M2.5 10h5.5M5.2 7 8 10l-2.8 3M17.5 10H12M14.8 7 12 10l2.8 3M10 3.5v2M10 14.5v2',
  events: 'M2.5 10H6l2-5 4 10 2-5h3.5',
  kv: 'M12.5 3.5a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM9.5 10.5l-6 6M6 14l2 2',
  config: 'M3.5 6h7M14.5 6h2M3.5 14h2M9.5 14h7M12.5 4v4M7.5 12v4',
  connections: 'M8 12l4-4M7 9l-2.1 2.1a3 3 0 0 0 4.2 4.2L11 13.2M13 11l2.1-2.1a3 3 0 0 0-4.2-4.2L9 6.8',
  peers: 'M10 3.5a2 2 0 1 1 0 4 2 2 0 0 1 0-4zM4.5 12.5a2 2 0 1 1 0 4 2 2 0 0 1 0-4zM15.5 12.5a2 2 0 1 1 0 4 2 2 0 0 1 0-4zM9 7.3l-3.4 5.4M11 7.3l3.4 5.4M6.5 14.5h7',
  api: 'M7 5l-4.5 5L7 15M13 5l4.5 5-4.5 5',
  search: 'M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM13 13l4 4',
  pause: 'M7 4.5v11M13 4.5v11',
  play: 'M6.5 4.5v11l9-5.5z',
  sun: 'M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1',
  moon: 'M16.5 11.5a7 7 0 0 1-8-8 7 7 0 1 0 8 8z',
  system: 'M3 4h14v9H3zM7.5 16.5h5M10 13v3.5',
  globe: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM3 10h14M10 3c2.5 2.2 2.5 11.8 0 14M10 3c-2.5 2.2-2.5 11.8 0 14',
  user: 'M10 3.5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM4 16.5c.6-3 3-4.5 6-4.5s5.4 1.5 6 4.5',
  copy: 'M7 7h9v9H7zM13 7V4H4v9h3',
  check: 'M4 10.5l4 4 8-9',
  cross: 'M5 5l10 10M15 5L5 15',
  warn: 'M10 3l7.5 13.5h-15zM10 8v4M10 14.2v.2',
  info: 'M10 3.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM10 9.2v4M10 6.6v.2',
  right: 'M7.5 4.5 13 10l-5.5 5.5',
  down: 'M4.5 7.5 10 13l5.5-5.5',
  up: 'M4.5 12.5 10 7l5.5 5.5',
  menu: 'M3.5 6h13M3.5 10h13M3.5 14h13',
  help: 'M7.5 7.7a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.8-1.1 1.8M10 14.4v.2M10 2.8a7.2 7.2 0 1 0 0 14.4 7.2 7.2 0 0 0 0-14.4z',
  columns: 'M3.5 4h13v12h-13zM8 4v12M12.5 4v12',
  download: 'M10 3.5v9M6 9l4 4 4-4M4 16.5h12',
  trash: 'M4 6h12M8 6V4h4v2M5.5 6l.8 10.5h7.4L14.5 6',
  edit: 'M4 16l.7-3.2L13 4.5 15.5 7l-8.3 8.3z',
  plus: 'M10 4v12M4 10h12',
  minus: 'M4 10h12',
  lock: 'M5 9h10v7.5H5zM7 9V6.5a3 3 0 0 1 6 0V9',
  change: 'M4 7h11l-3-3M16 13H5l3 3',
  link: 'M8 12l4-4M7 9l-2.1 2.1a3 3 0 0 0 4.2 4.2L11 13.2M13 11l2.1-2.1a3 3 0 0 0-4.2-4.2L9 6.8',
  // States, told apart by shape alone.
  live: 'M10 5.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9z',
  late: 'M10 5.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9z',
  expired: 'M6 6l8 8M14 6l-8 8',
  ring: 'M10 5.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9z',
};
const fills = { live: 'M10 5.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9z', late: 'M10 5.5a4.5 4.5 0 0 0 0 9z' };

/** One picture. @param {{name: string, size?: number}} props */
export function Icon({ name, size = 18 }) {
  return html`<svg viewBox="0 0 20 20" width=${size} height=${size} aria-hidden="true" fill="none" stroke="currentColor"
    stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round">
    ${fills[name] && html`<path d=${fills[name]} fill="currentColor" stroke="none" />`}<path d=${strokes[name]} /></svg>`;
}

/** The sign itself: a post with an arm each way. */
export function Logo({ size = 26 }) {
  return html`<svg viewBox="0 0 32 32" width=${size} height=${size} aria-hidden="true" fill="currentColor">
    <path d="M14.5 3h3v26h-3z" opacity="0.55" /><path d="M17.5 5.5H26l4 3.75-4 3.75h-8.5zM14.5 15H6l-4 3.75L6 22.5h8.5z" /></svg>`;
}

const levels = { live: 'ok', late: 'warn', expired: 'bad' };

/** A state as shape and word. Over stale data it says what was, not what is. */
export function State({ member }) {
  const state = stateOf(member, asOf());
  if (stale.value) return html`<span class="badge"><${Icon} name="ring" size="12" />${t('state.was', { state: t('state.' + state) })}</span>`;
  return html`<span class=${'badge ' + levels[state]}><${Icon} name=${state} size="12" />${t('state.' + state)}</span>${member.unconfirmed && html` <span class="badge info" title=${t('word.unconfirmed.text')}>${t('state.unconfirmed')}</span>`}${member.suspect && html` <span class="badge warn" title=${t('word.suspect.text')}>${t('state.suspect')}</span>`}`;
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
  const now = asOf();
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
  // What does not move is drawn as a line at rest, not at the bottom.
  const span = max - min;
  const at = points.map((v, i) => `${((i / (points.length - 1)) * 100).toFixed(2)},${(span ? 34 - ((v - min) / span) * 28 : 26).toFixed(2)}`);
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
