// The page's one store and one feed, and what everybody needs to know of them.
import { signal, computed, effect } from '../vendor/preact.js';
import { Store } from './store.js';
import { Feed } from './feed.js';
import { whoami, me } from './api.js';
import { atServer, tick } from './clock.js';

export const store = new Store();

const address = new URL('../ws', globalThis.document?.baseURI ?? 'http://localhost/ui/');
address.protocol = address.protocol.replace('http', 'ws');

export const feed = new Feed({
  url: address.href, store, mayConnect: whoami,
  fallbacks: [async () => (await import('./watch.js')).WatchSocket, async () => (await import('./poll.js')).PollSocket],
});

/**
 * True while what is shown may be old. A server that restarts is back within a second or
 * two; dimming the page for that would only be a flash.
 */
export const stale = signal(false);

let timer;
effect(() => {
  const off = feed.status.value !== 'live' && store.known.value;
  clearTimeout(timer);
  if (!off) stale.value = false;
  else timer = setTimeout(() => { stale.value = true; }, 2000);
});

/**
 * The moment of which the page tells: now, or when the server last spoke. A member that was
 * live then did not expire because nobody could hear its heartbeats.
 */
export const asOf = () => (stale.value ? atServer(feed.lastWord.peek()) : tick.value);

/** Whether the feed is there at present. */
export const connected = computed(() => feed.status.value === 'live');

/** The role by which the page decides which actions there are. */
export const role = computed(() => feed.hello.value?.role ?? me.value?.role ?? 'none');
export const isAdmin = computed(() => role.value === 'admin');

/** Short news: {text, at, aloud, stay}; only for screen readers where `aloud` is set, until it is closed where `stay` is. */
export const notice = signal(null);

/** Says something once, in the corner of the page and in the live region. */
export function say(text, aloud = false, stay = false) {
  notice.value = { text, at: Date.now(), aloud, stay };
}

/** The table on the page, for the keys j, k and y: {move, copy}, or null. */
export const table = { current: null };
