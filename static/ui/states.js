// What a view shows when it has nothing to show: loading, empty, nothing found, failed,
// not permitted. And how a view reads a list that the feed does not carry.
import { html, useEffect, useMemo, useRef, useState } from '../vendor/preact.js';
import { get, Problem } from '../lib/api.js';
import { t } from '../lib/i18n.js';
import { store } from '../lib/live.js';
import { Code, Go, Icon } from './atoms.js';

/** Grey lines, after a moment: what is there at once needs none. */
export function Loading({ lines = 6 }) {
  return html`<div class="skeleton" role="status"><span class="sr">${t('loading')}</span>${Array.from({ length: lines }, (_, i) => html`<i key=${i} style=${{ width: 90 - (i * 17) % 45 + '%' }} />`)}</div>`;
}

/** A large quiet message; `page` if it stands for a whole page. */
export function Blank({ icon = 'info', title, text, page, children }) {
  return html`<div class="blank"><${Icon} name=${icon} size="36" /><${page ? 'h1' : 'h2'} tabindex="-1">${title}<//>${text && html`<p>${text}</p>`}${children}</div>`;
}

/** No broker yet: the one line a broker needs. */
export function NoBrokers({ address }) {
  return html`<${Blank} icon="brokers" title=${t('empty.brokers')} text=${t('empty.brokersText')}>
    <${Code} text=${'namesrvAddr=' + address} label=${t('empty.brokersLine')} /><//>`;
}

/** Filters that match nothing. */
export function NoMatch({ total, onClear }) {
  return html`<${Blank} icon="search" title=${t('nomatch.title')} text=${t('nomatch.text', { n: total })}>
    <button type="button" class="btn" onClick=${onClear}>${t('nomatch.clear')}</button><//>`;
}

/** An answer that was no success, in the server's words. */
export function Failed({ error, page, onRetry }) {
  if (error.status === 403) return html`<${Blank} page=${page} icon="lock" title=${t('failed.forbidden')} text=${error.message} />`;
  const absent = error.code === 'no-such-endpoint';
  return html`<${Blank} page=${page} icon="warn" title=${absent ? t('failed.absent') : error.status === 0 ? t('failed.unreachable') : error.title || t('failed.title')}
    text=${absent ? t('failed.absentText') : error.status === 0 ? t('failed.unreachableText') : error.message}>
    ${error.suggestions?.length > 0 && html`<p>${t('failed.suggest')} ${error.suggestions.map((s) => html`<${Go} key=${s} to=${['topics', s]}>${s}<//> `)}</p>`}
    ${!absent && html`<p class="faint small">${error.code}${error.requestId && html` · <span class="mono">${error.requestId}</span>`}</p>`}
    ${!absent && onRetry && html`<button type="button" class="btn" onClick=${onRetry}>${t('failed.retry')}</button>`}<//>`;
}

/**
 * Reads an address, and again when it or one of deps changes. What was read stays until
 * something newer is there; a failed re-read is told beside it, not instead of it.
 * @param {string|null} address null reads nothing
 * @returns {{data: any, error: Problem|null, loading: boolean, at: number, retry: () => void}}
 */
export function useGet(address, deps = []) {
  const [state, setState] = useState({ data: null, error: null, loading: true, at: 0, of: null });
  const [again, setAgain] = useState(0);
  const abort = useRef(null);
  useEffect(() => {
    if (address === null) return undefined;
    abort.current?.abort();
    const control = abort.current = new AbortController();
    setState((s) => {
      // The first time this is how it stands already; the same object is not drawn again.
      if (s.loading && (s.of === address || s.of === null)) return s;
      return { ...s, loading: true, ...(s.of === address ? {} : { data: null, error: null }) };
    });
    get(address, control.signal).then(
      (data) => setState({ data, error: null, loading: false, at: Date.now(), of: address }),
      (error) => {
        if (error.name !== 'AbortError') setState((s) => ({ ...s, error: error instanceof Problem ? error : new Problem(0, { detail: String(error) }), loading: false, of: address }));
      });
    return () => control.abort();
  }, [address, again, ...deps]);
  const mine = state.of === address;
  return { data: mine ? state.data : null, error: mine ? state.error : null, loading: state.loading, at: state.at, retry: () => setAgain((n) => n + 1) };
}

/**
 * Something that becomes another soon after the feed told of a change of that kind, or that
 * it missed some; as one of the deps of useGet. It does so once in five seconds at most,
 * however many changes there are.
 * @param {string} kind such as "member"
 */
export function useNews(kind) {
  const moved = store.eventsMoved.value;
  const latest = useMemo(() => store.events.findLast((set) => set.gap || set.changes.some((c) => c.kind === kind)), [moved, kind]);
  const [told, tell] = useState(latest);
  const at = useRef(0);
  useEffect(() => {
    if (latest === told) return undefined;
    const timer = setTimeout(() => {
      at.current = Date.now();
      tell(latest);
    }, Math.max(0, at.current + 5000 - Date.now()));
    return () => clearTimeout(timer);
  }, [latest, told]);
  return told;
}

/** The usual three answers of useGet, so that views only write the fourth. */
export function Got({ from, children, lines }) {
  if (from.data !== null) {
    return html`${from.error && html`<div class="banner" role="status"><${Icon} name="warn" /><span>${t('failed.old')} ${from.error.message}</span>
      <button type="button" class="btn tiny" onClick=${from.retry}>${t('failed.retry')}</button></div>`}${children(from.data)}`;
  }
  if (from.error) return html`<${Failed} error=${from.error} onRetry=${from.retry} />`;
  return html`<${Loading} lines=${lines} />`;
}
