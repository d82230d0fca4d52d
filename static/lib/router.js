// Addresses of views. They live in the fragment, so that the dashboard works below any
// prefix of any reverse proxy without a rule there, and a topic of any characters is one
// percent-encoded segment. Filters, sort order and tab are part of the address: whatever
// is on the screen can be sent to a colleague.
import { signal } from '../vendor/preact.js';

/** @typedef {{path: string[], query: Record<string, string>}} Route */

const decode = (s) => {
  try {
    return decodeURIComponent(s);
  } catch {
    return s; // typed by hand with a stray %; better shown as it is than refused
  }
};

/**
 * Reads a fragment such as "#/topics/%25RETRY%25g?tab=history".
 * @param {string} hash
 * @returns {Route}
 */
export function parse(hash) {
  const raw = hash.replace(/^#?\/?/, '');
  const cut = raw.indexOf('?');
  const path = (cut < 0 ? raw : raw.slice(0, cut)).split('/').filter(Boolean).map(decode);
  const query = {};
  if (cut >= 0) for (const [k, v] of new URLSearchParams(raw.slice(cut + 1))) query[k] = v;
  return { path, query };
}

/**
 * Writes a fragment; the inverse of parse. Empty query values are left out.
 * @param {string[]} path
 * @param {Record<string, string|undefined|null|false>} [query]
 */
export function format(path, query = {}) {
  const search = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) if (v !== undefined && v !== null && v !== false && v !== '') search.set(k, v);
  const tail = search.toString();
  return '#/' + path.map(encodeURIComponent).join('/') + (tail ? '?' + tail : '');
}

/** The address that is shown. */
export const route = signal(parse(globalThis.location?.hash ?? ''));

/**
 * An address within the dashboard. The language stays with it once it is in the address,
 * so that a link copied from a page opens as the sender saw it.
 */
export function href(path, query) {
  const { lang } = route.peek().query;
  return format(path, lang ? { ...query, lang } : query);
}

/** Goes to another view. */
export function go(path, query) {
  location.hash = href(path, query);
}

/**
 * Changes the query of the present address. Typing into a filter replaces the entry of
 * the browser's history instead of adding one for each letter.
 */
export function setQuery(patch) {
  const r = route.peek();
  const next = format(r.path, { ...r.query, ...patch });
  if (next === location.hash) return;
  history.replaceState(history.state, '', next);
  route.value = parse(next);
}

/** Starts following the address; called once. */
export function startRouter() {
  addEventListener('hashchange', () => { route.value = parse(location.hash); });
  route.value = parse(location.hash);
}
