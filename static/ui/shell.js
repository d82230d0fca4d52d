// The frame around every view: bar, places, the view itself, and what is said aloud.
import { effect, html, useEffect, useErrorBoundary, useRef, useState } from '../vendor/preact.js';
import { language, languages, setLanguage, t } from '../lib/i18n.js';
import { storeLanguage, theme, setTheme } from '../lib/prefs.js';
import { href, route, setQuery } from '../lib/router.js';
import { me, signedOut } from '../lib/api.js';
import { asOf, connected, feed, notice, say, stale, store } from '../lib/live.js';
import { holdClock, serverNow, tick } from '../lib/clock.js';
import { duration, time } from '../lib/format.js';
import { problems } from '../lib/model.js';
import { Overview, useGroups } from '../views/overview.js';
import { Blank, Failed, Loading } from './states.js';
import { Icon, Logo } from './atoms.js';

/** The places, in the order of the list. `key` follows g on the keyboard. */
export const places = [
  { id: 'overview', key: 'o' }, { id: 'clusters', key: 'c' }, { id: 'brokers', key: 'b' }, { id: 'topics', key: 't' },
  { id: 'stale', key: 's' }, { id: 'conflicts', key: 'x' }, { id: 'events', key: 'e' }, { id: 'kv', key: 'k' }, { id: 'config', key: 'f' },
  { id: 'connections', key: 'n' }, { id: 'peers', key: 'p' }, { id: 'api', key: 'a' },
];

// A view is loaded when it is first opened. Each has the default export its component;
// `fill` views give all the height they have to one table.
const views = {
  clusters: { load: () => import('../views/clusters.js') },
  brokers: { load: () => import('../views/brokers.js'), fill: true },
  broker: { load: () => import('../views/broker.js') },
  topics: { load: () => import('../views/topics.js'), fill: true },
  topic: { load: () => import('../views/topic.js') },
  stale: { load: () => import('../views/stale.js'), fill: true },
  conflicts: { load: () => import('../views/conflicts.js') },
  events: { load: () => import('../views/events.js') },
  kv: { load: () => import('../views/kv.js') },
  config: { load: () => import('../views/config.js'), fill: true },
  connections: { load: () => import('../views/connections.js'), fill: true },
  peers: { load: () => import('../views/peers.js') },
  api: { load: () => import('../views/api.js') },
};

function viewOf(path) {
  const [first = 'overview', second] = path;
  if (first === 'topics' && second !== undefined) return 'topic';
  if (first === 'brokers' && second !== undefined) return 'broker';
  return first;
}

// What is here already, by the function that loads it: drawn at once, not a frame later.
const overview = async () => ({ default: Overview });
const here = new Map([[overview, { default: Overview }]]);

function useModule(load) {
  const [failed, setFailed] = useState({});
  const [again, setAgain] = useState(0);
  const [, redraw] = useState(null);
  const module = here.get(load);
  useEffect(() => {
    // What counts is what was drawn. It may have come since, fetched ahead or for somebody
    // else; then loading it is a matter of a moment, and only we draw ourselves again.
    if (module || !load) return undefined;
    let wanted = true;
    load().then((got) => {
      here.set(load, got);
      if (wanted) redraw(got);
    }, (error) => wanted && setFailed({ load, error }));
    return () => { wanted = false; };
  }, [load, again]);
  return { module, error: !module && failed.load === load ? failed.error : undefined, retry: () => setAgain(again + 1) };
}

// Once the first view stands, the others are fetched: then opening one takes no time, and
// works while the server is away.
effect(() => {
  if (!store.ready.value) return;
  setTimeout(async () => {
    for (const load of [search, ...Object.values(views).map((v) => v.load)]) await load().then((module) => here.set(load, module), () => {});
  }, 3000);
});

let visited = null; // the path that was shown last

function View({ name }) {
  const [error, forget] = useErrorBoundary((err) => console.error(err));
  const { path } = route.value;
  const { module, error: lost, retry } = useModule(name === 'overview' ? overview : views[name].load);
  const at = path.join('/');
  useEffect(() => { if (error) forget(); }, [at]);
  // A new page begins at its heading, for eyes and for screen readers alike.
  useEffect(() => {
    if (module && visited !== null && visited !== at) {
      document.querySelector('main h1')?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    if (module) visited = at;
  }, [at, module]);
  if (error) return html`<${Failed} page error=${{ status: -1, message: String(error), title: t('failed.view'), code: 'view' }} onRetry=${forget} />`;
  // The files of another version of the server are gone: the page is older than it.
  if (lost && !connected.value) return html`<${Failed} page error=${{ status: 0, code: 'unreachable' }} onRetry=${retry} />`;
  if (lost) return html`<${Blank} page icon="warn" title=${t('newer.title')} text=${t('newer.text')}><button type="button" class="btn primary" onClick=${() => location.reload()}>${t('newer.reload')}</button><//>`;
  if (!module) return html`<${Loading} />`;
  return html`<${module.default} path=${path} />`;
}

export function App() {
  if (signedOut.value) return html`<${Lazy} load=${login} /><${Said} />`;
  const { path } = route.value;
  const name = viewOf(path);
  const known = name === 'overview' || views[name];
  return html`<div class="shell"><a class="skip" href="#main" onClick=${skip}>${t('skip')}</a><${Bar} /><${Nav} now=${path[0] ?? 'overview'} />
    <main id="main" tabindex="-1" class=${views[name]?.fill ? 'fill' : ''} data-stale=${stale.value || undefined}>
      <${Old} />${known ? html`<${View} key=${name} name=${name} />`
        : html`<${Blank} page icon="search" title=${t('nowhere.title')} text=${t('nowhere.text')}><a class="btn" href=${href([])}>${t('nav.overview')}</a><//>`}
    </main><${Said} /><${Title} name=${name} /></div>`;
}

const login = () => import('../views/login.js');

/** Draws the default export of a module once it is there, or that it cannot be had. */
export function Lazy({ load, ...props }) {
  const { module, error, retry } = useModule(load);
  if (error) return html`<${Failed} error=${{ status: 0, code: 'unreachable' }} onRetry=${retry} />`;
  return module ? html`<${module.default} ...${props} />` : null;
}

// The fragment is the address of the view, so the skip link moves the focus itself.
function skip(e) {
  e.preventDefault();
  document.getElementById('main').focus();
}

function Bar() {
  const [menu, setMenu] = useState(false);
  useEffect(() => {
    document.querySelector('.nav')?.classList.toggle('open', menu);
  }, [menu]);
  useEffect(() => setMenu(false), [route.value]);
  return html`<header class="bar">
    <button type="button" class="btn quiet icon menu" aria-expanded=${menu} aria-controls="nav" aria-label=${t('menu')} onClick=${() => setMenu(!menu)}><${Icon} name="menu" /></button>
    <a class="brand" href=${href([])}><${Logo} /><span class="cut"><b>Fingerpost</b><small class="cut">${location.host}</small></span></a>
    <${SearchBox} /><${Pill} />
    <span class="rev small faint mono nowrap" title=${t('revision')}>${store.revisionText.value}</span>
    <${Pause} /><${Language} /><${Theme} /><${Account} /></header>`;
}

// The box is there at once, and can be typed into. What finds is loaded when it is first
// used and takes its place with what was typed, but not in the middle of composing a word.
function SearchBox() {
  const [awake, setAwake] = useState(false);
  const [composing, setComposing] = useState(false);
  const [typed, setTyped] = useState('');
  const { module } = useModule(awake ? search : null);
  if (module && !composing) return html`<${module.default} typed=${typed} focused=${document.activeElement?.id === 'search'} />`;
  return html`<div class="search" role="search"><${Icon} name="search" size="16" />
    <input class="in" type="search" id="search" autocomplete="off" spellcheck=${false} placeholder=${t('search.hint')} aria-label=${t('search.label')} value=${typed} onFocus=${() => setAwake(true)}
      onInput=${(e) => setTyped(e.target.value)} onCompositionStart=${() => setComposing(true)} onCompositionEnd=${() => setComposing(false)} /><kbd aria-hidden="true">/</kbd></div>`;
}
const search = () => import('./search.js');

/** Whether what is shown is what is. */
function Pill() {
  const status = feed.status.value;
  const paused = store.paused.value;
  const word = feed.lastWord.value;
  if (paused) return html`<span class="pill idle"><${Icon} name="pause" size="14" />${t('pill.paused', { time: time(paused.since) })}${paused.count > 0 && ' · ' + t('pill.waiting', { n: paused.count })}</span>`;
  if (status === 'live') return html`<span class="pill ok" title=${t('pill.liveText')}><${Icon} name="live" size="14" />${t('pill.live')}</span>`;
  if (!store.known.value) return html`<span class="pill idle"><${Icon} name="late" size="14" />${t('pill.connecting')}</span>`;
  if (!stale.value) return html`<span class="pill idle"><${Icon} name="late" size="14" />${t('pill.reconnecting')}</span>`;
  return html`<span class="pill bad"><${Icon} name="expired" size="14" />${t('pill.stale', { time: time(word) })}</span>`;
}

/** Above old data: how old it is, and the way to try at once; above an old page likewise. */
function Old() {
  const assets = feed.hello.value?.assets;
  if (assets && !import.meta.url.includes(assets)) {
    return html`<div class="banner"><${Icon} name="info" /><span>${t('newer.title')}. ${t('newer.text')}</span><button type="button" class="btn tiny" onClick=${() => location.reload()}>${t('newer.reload')}</button></div>`;
  }
  if (!stale.value) return null;
  tick.value;
  return html`<div class="banner bad"><${Icon} name="warn" /><span>${t('old.text', { time: time(feed.lastWord.value), age: duration(Date.now() - feed.lastWord.value) })}</span>
    <button type="button" class="btn tiny" onClick=${() => feed.retry()}>${t('old.retry')}</button></div>`;
}

export function togglePause() {
  const on = store.paused.peek() === null;
  holdClock(on);
  if (on) store.pause(serverNow());
  else store.resume();
}

function Pause() {
  const on = store.paused.value !== null;
  const label = on ? t('pause.resume') : t('pause.pause');
  return html`<button type="button" class="btn quiet icon" id="pause" aria-pressed=${on} aria-label=${label} title=${label + ' (p)'} onClick=${togglePause}><${Icon} name=${on ? 'play' : 'pause'} /></button>`;
}

export function nextLanguage() {
  const all = Object.keys(languages);
  const lang = all[(all.indexOf(language.peek()) + 1) % all.length];
  storeLanguage(lang);
  setLanguage(lang);
  setQuery({ lang });
}

function Language() {
  const other = language.value === 'en' ? 'zh-CN' : 'en';
  return html`<button type="button" class="btn quiet" id="language" lang=${other} aria-label=${languages[other]} title=${languages[other] + ' (l)'} onClick=${nextLanguage}><${Icon} name="globe" /><span>${languages[other]}</span></button>`;
}

const nextTheme = { system: 'light', light: 'dark', dark: 'system' };
export const turnTheme = () => setTheme(nextTheme[theme.peek()]);

function Theme() {
  const label = t('theme.' + theme.value);
  return html`<button type="button" class="btn quiet icon" id="theme" aria-label=${label} title=${label + ' (t)'} onClick=${turnTheme}><${Icon} name=${{ light: 'sun', dark: 'moon', system: 'system' }[theme.value]} /></button>`;
}

function Account() {
  const [open, setOpen] = useState(false);
  const who = me.value;
  const role = feed.hello.value?.role ?? who?.role;
  const label = who ? t('account.label', { name: who.principal, role: t('role.' + role) }) : t('account.unknown');
  return html`<button type="button" class="btn quiet icon" id="account" aria-haspopup="dialog" aria-label=${label} title=${label} onClick=${() => setOpen(true)}><${Icon} name=${role === 'admin' ? 'user' : 'lock'} /></button>
    ${open && html`<${Lazy} load=${account} onClose=${() => setOpen(false)} />`}`;
}
const account = () => import('./account.js');

function Nav({ now }) {
  const [help, setHelp] = useState(false);
  useEffect(() => {
    const show = () => setHelp(true);
    addEventListener('fingerpost:help', show);
    return () => removeEventListener('fingerpost:help', show);
  }, []);
  store.membersMoved.value;
  store.topicsMoved.value;
  const counts = store.known.value ? { topics: store.topicCount, brokers: store.clusterOf.size } : {};
  return html`<nav class="nav" id="nav" aria-label=${t('nav.label')}><ul>${places.map((p) => html`<li key=${p.id}>
      <a href=${href(p.id === 'overview' ? [] : [p.id])} aria-current=${p.id === now ? 'page' : undefined}><${Icon} name=${p.id} />${t('nav.' + p.id)}
      ${counts[p.id] > 0 && html`<span class="count">${t('n', { n: counts[p.id] })}</span>`}</a></li>`)}</ul>
    <div class="foot"><button type="button" onClick=${() => setHelp(true)}><${Icon} name="help" />${t('help.title')}</button></div></nav>
    ${help && html`<${Lazy} load=${helpDialog} onClose=${() => setHelp(false)} />`}`;
}
const helpDialog = () => import('./help.js');

/** What is said aloud: at most one message in five seconds, the latest wins. */
function Said() {
  const [text, setText] = useState('');
  const [shown, setShown] = useState(null);
  const last = useRef(0);
  const said = notice.value;
  useEffect(() => {
    if (!said) return undefined;
    if (!said.aloud) setShown(said);
    const wait = Math.max(0, last.current + 5000 - Date.now());
    const speak = setTimeout(() => {
      last.current = Date.now();
      setText(said.stay ? '' : said.text); // what stays speaks for itself
    }, wait);
    return () => clearTimeout(speak);
  }, [said]);
  // What is only said aloud neither takes away what is shown nor makes it stay longer.
  useEffect(() => {
    if (!shown || shown.stay) return undefined;
    const hide = setTimeout(() => setShown(null), 4000);
    return () => clearTimeout(hide);
  }, [shown]);
  return html`<div class="sr" role="status" aria-live="polite">${text}</div>${shown && html`<div class="toast" role=${shown.stay ? 'alert' : undefined} aria-hidden=${shown.stay ? undefined : 'true'}>${shown.text}${shown.stay && html` <button type="button" class="btn tiny" onClick=${() => setShown(null)}>${t('close')}</button>`}</div>`}`;
}

// The title of the window names the page and counts what needs a look, as the overview does;
// a screen reader hears when that number changes.
function Title({ name }) {
  const { path } = route.value;
  const place = t('nav.' + (path[0] ?? 'overview'));
  const gs = useGroups();
  store.eventsMoved.value;
  const wrong = store.known.value ? problems({ store, groups: gs, now: asOf() }).filter((p) => p.level !== 'info').length : null;
  const before = useRef(null);
  useEffect(() => {
    document.title = (wrong ? `(${wrong}) ` : '') + (path[1] !== undefined ? path[1] + ' · ' : '') + place + ' · Fingerpost';
  }, [place, name, path[1], wrong]);
  useEffect(() => {
    if (before.current !== null && wrong !== null) say(wrong ? t('overview.look', { n: wrong }) : t('overview.good'), true);
    before.current = wrong;
  }, [wrong]);
  return null;
}
