// The REST API, as the dashboard uses it: relative addresses, so that any prefix works,
// and one kind of error.
import { signal } from '../vendor/preact.js';
import { heard } from './clock.js';
import { t } from './i18n.js';
import { painted } from './paint.js';

/** Where the API begins, seen from the page. */
export const base = new URL('../api/v1/', globalThis.document?.baseURI ?? 'http://localhost/ui/').href;

/** True when the server asked for credentials. */
export const signedOut = signal(false);

/** Who we are: {principal, role}; null until known. */
export const me = signal(null);

/** An answer that was no success, as the server explained it. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `HTTP ${status}`);
    this.status = status;
    this.code = body.code ?? (status ? 'http-' + status : 'unreachable');
    this.title = body.title ?? '';
    this.requestId = String(body.instance ?? '').replace(/^urn:request:/, '');
    this.errors = body.errors ?? [];
    this.suggestions = body.suggestions ?? [];
    this.checks = body.checks; // of a probe that fails
  }
}

/** Joins path segments; each may hold any character. */
export const path = (...segments) => segments.map(encodeURIComponent).join('/');

/**
 * Whether a name can be a segment of a path. A few that peers may register cannot; those
 * are asked for by query, where there is such a form.
 */
export const addressable = (name) => name !== '.' && name !== '..' && !/[/\u0000-\u001f\u007f]/.test(name);

/**
 * Sends a request. Resolves to {status, body, etag}; rejects with a Problem.
 * @param {string} method
 * @param {string} address relative to the API's base
 * @param {{body?: any, type?: string, headers?: object, signal?: AbortSignal, text?: boolean, sent?: Promise<Response>}} [o]
 *   `sent` is the same request if it is on its way already
 */
export async function send(method, address, o = {}) {
  const headers = { Accept: o.text ? 'text/plain' : 'application/json', 'Accept-Language': document.documentElement.lang, ...o.headers };
  let body;
  if (o.body !== undefined) {
    headers['Content-Type'] = o.type ?? 'application/json';
    body = typeof o.body === 'string' && o.type === 'text/plain' ? o.body : JSON.stringify(o.body);
  }
  let res;
  try {
    res = await (o.sent ?? fetch(new URL(address, base), { method, headers, body, signal: o.signal, credentials: 'same-origin' }));
  } catch (err) {
    if (err.name === 'AbortError') throw err;
    throw new Problem(0, { detail: t('failed.unreachable') });
  }
  const date = Date.parse(res.headers.get('Date') ?? '');
  // The header has whole seconds; their middle is the better guess.
  if (date) heardRoughly(date + 500);
  const text = await res.text();
  let parsed = text;
  if (text && /json/.test(res.headers.get('Content-Type') ?? '')) parsed = JSON.parse(text);
  if (res.ok || res.status === 304) return { status: res.status, body: parsed, etag: res.headers.get('ETag'), dryRun: res.headers.has('Namesrv-Dry-Run') };
  if (res.status === 401) signedOut.value = true;
  throw new Problem(res.status, typeof parsed === 'object' && parsed ? parsed : { detail: text.slice(0, 300) });
}

/**
 * The body of a GET. It is not sent before the first view is on the screen, which sending it
 * would delay.
 */
export async function get(address, signal) {
  await painted;
  return (await send('GET', address, { signal })).body;
}

/**
 * Learns who we are.
 * @returns {Promise<'yes'|'no'|'unreachable'>} whether we may read here
 */
export async function whoami() {
  // The first time the answer is on its way since before this module was loaded.
  const sent = globalThis.begun?.whoami;
  if (sent) globalThis.begun.whoami = null;
  try {
    me.value = (await send('GET', 'whoami', { sent })).body;
    signedOut.value = me.value.role === 'none';
    return signedOut.value ? 'no' : 'yes';
  } catch (err) {
    return err.status === 401 ? 'no' : 'unreachable';
  }
}

/** Whether we may change things; unknown counts as no. */
export const mayChange = () => me.value?.role === 'admin';

let knowsTime = false;
function heardRoughly(millis) {
  // Only until the feed tells it to the millisecond.
  if (knowsTime) return;
  if (Math.abs(millis - Date.now()) > 1500) heard(millis);
  knowsTime = true;
}

const shellWord = (s) => /^[\w@%+=:,./-]+$/.test(s) ? s : `'${s.replaceAll("'", `'\\''`)}'`;

/**
 * The same request as a line for a terminal. The credential is not in it: a change takes it
 * from the file that "fingerpost curlrc" writes.
 */
export function curl(method, address, body, headers = {}) {
  const words = ['curl'];
  if (method !== 'GET') words.push('-K', '~/.fingerpost.curlrc', '-X', method);
  for (const [k, v] of Object.entries(headers)) words.push('-H', shellWord(`${k}: ${v}`));
  if (body !== undefined) {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    if (!headers['Content-Type']) words.push('-H', shellWord('Content-Type: ' + (typeof body === 'string' ? 'text/plain' : 'application/json')));
    words.push('--data-binary', shellWord(text));
  }
  words.push(shellWord(new URL(address, base).href));
  return words.join(' ');
}
