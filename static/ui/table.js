// The one table of the dashboard: a real <table> of which only the rows in sight are
// drawn, so that a hundred thousand rows cost what thirty do. Rows have one height, which
// is measured, not assumed: people enlarge text. Scrolling draws nothing but rows that come
// into sight, in the elements of those that leave it.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { sortRows } from '../lib/sort.js';
import { hold } from '../lib/hold.js';
import { reveal, slotsOf, windowOf } from '../lib/window.js';
import { table } from '../lib/live.js';
import { Icon, copyText } from './atoms.js';

/**
 * @typedef {object} Column
 * @property {string} id
 * @property {any} label
 * @property {(row: any) => any} cell what stands in it; plain elements are drawn faster than components
 * @property {(row: any) => any} [value] what the column sorts by; without it it does not sort
 * @property {string} [width] in rem; one column has none and takes what is left
 * @property {boolean} [num] numbers stand at the right
 */

/**
 * @param {{label: string, columns: Column[], rows: any[], rowKey: (row: any) => string,
 *   rowHref?: (row: any) => string, sort: string, onSort: (sort: string) => void,
 *   rowClass?: (row: any) => string, copy?: (row: any) => string, total?: number, view?: string, tall?: boolean}} props
 *   `view` changes with filters: then the order is made anew even under the pointer
 */
export function DataTable({ label, columns, rows, rowKey, rowHref, sort, onSort, rowClass, copy, total, view = '', tall }) {
  const frame = useRef(null);
  const [busy, setBusy] = useState(false);
  const kept = useRef({ order: [], view: null });
  const [release, setRelease] = useState(0);
  const mode = sort + '\n' + view + '\n' + release;

  const column = columns.find((c) => c.id === sort.replace(/^-/, ''));
  const sorted = useMemo(() => sortRows(rows, column?.value, sort.startsWith('-')), [rows, column?.id, sort]);
  // Under the pointer or the focus nothing changes its place.
  const { list, news } = useMemo(() => {
    const held = busy && kept.current.view === mode ? hold(kept.current.order, sorted, rowKey) : { list: sorted.map((row) => ({ row })), news: 0 };
    kept.current = { order: held.list, view: mode };
    return held;
  }, [sorted, busy, mode]);

  const body = useRef(null); // {first, show} of the rows in sight

  const rowLink = (i) => frame.current?.querySelector(`tr[data-i="${i}"] a`);
  // Where the keys are on their way to: they may come faster than rows are drawn.
  const goal = useRef(null);
  const move = (by) => {
    const at = goal.current ?? document.activeElement?.closest?.('tr[data-i]')?.dataset.i;
    const next = goal.current = Math.max(0, Math.min(list.length - 1, at === undefined ? body.current.first : Number(at) + by));
    body.current.show(next);
    requestAnimationFrame(() => requestAnimationFrame(() => {
      if (goal.current !== next) return;
      goal.current = null;
      rowLink(next)?.focus({ preventScroll: true });
    }));
  };
  useEffect(() => {
    table.current = {
      move,
      copy: () => {
        const i = document.activeElement?.closest?.('tr[data-i]')?.dataset.i;
        if (i !== undefined) copyText((copy ?? rowKey)(list[i].row));
      },
    };
    return () => { table.current = null; };
  });
  useEffect(() => { frame.current.scrollTop = 0; }, [view]);

  const focusIn = () => setBusy(true);
  const focusOut = (e) => { if (frame.current && !frame.current.contains(e.relatedTarget) && !frame.current.matches(':hover')) setBusy(false); };
  const leave = () => { if (!frame.current.querySelector('tbody')?.contains(document.activeElement)) setBusy(false); };
  const width = columns.reduce((sum, c) => sum + (parseFloat(c.width) || 14), 0);
  return html`<div class=${tall ? 'dt tallrows' : 'dt'} ref=${frame} tabindex="0" role="region" aria-label=${label} onMouseEnter=${focusIn} onMouseLeave=${leave} onFocusOut=${focusOut}>
    <table aria-rowcount=${list.length + 1} style=${{ minWidth: width + 'rem' }}>
      <colgroup>${columns.map((c) => html`<col key=${c.id} style=${{ width: c.width ?? 'auto' }} />`)}</colgroup>
      <thead><tr aria-rowindex="1">${columns.map((c) => html`<${Heading} key=${c.id} column=${c} sort=${sort} onSort=${onSort} />`)}</tr></thead>
      <${Body} frame=${frame} body=${body} list=${list} columns=${columns} rowKey=${rowKey} rowHref=${rowHref} rowClass=${rowClass} onFocusIn=${focusIn} /></table></div>
    <div class="foot-note"><span>${total === undefined || total === rows.length ? t('table.rows', { n: rows.length }) : t('table.of', { shown: rows.length, n: total })}</span>
      ${news > 0 && html`<button type="button" class="btn tiny" onClick=${() => setRelease(release + 1)}>${t('table.news', { n: news })}</button>`}</div>`;
}

// The rows in sight. Their elements are used in turn: a row that comes into sight takes
// those of one that has left it.
function Body({ frame, body, list, columns, rowKey, rowHref, rowClass, onFocusIn }) {
  const { first, last, before, after, slots, show } = useWindow(frame, list.length);
  body.current = { first, show };
  // The row with the focus, as the person sees it: its elements may become another's.
  const focused = useRef(null);
  const keyAt = (el) => {
    const i = el?.closest?.('tr[data-i]')?.dataset.i;
    return i === undefined ? null : rowKey(list[i].row);
  };
  const focus = (e) => {
    focused.current = keyAt(e.target);
    onFocusIn();
  };
  useLayoutEffect(() => {
    const at = document.activeElement;
    if (frame.current.contains(at) && keyAt(at) !== null && keyAt(at) !== focused.current) frame.current.focus({ preventScroll: true });
  }, [first, list]);
  const click = (e) => {
    const i = e.target.closest('tr[data-i]')?.dataset.i;
    if (i === undefined || !rowHref || e.target.closest('a, button, input, label') || getSelection().toString()) return;
    location.hash = rowHref(list[i].row);
  };
  return html`<tbody onFocusIn=${focus} onClick=${click}>${before > 0 && html`<tr class="pad" aria-hidden="true" key="before"><td style=${{ '--h': before + 'px' }} colspan=${columns.length} /></tr>`}
    ${list.slice(first, last).map(({ row, gone }, at) => html`<${Row} key=${(first + at) % slots} row=${row} i=${first + at} columns=${columns}
      look=${(gone ? 'gone ' : '') + (rowHref ? 'go ' : '') + (rowClass?.(row) ?? '')} />`)}
    ${after > 0 && html`<tr class="pad" aria-hidden="true" key="after"><td style=${{ '--h': after + 'px' }} colspan=${columns.length} /></tr>`}</tbody>`;
}

function Row({ row, i, columns, look }) {
  this.shouldComponentUpdate = differs;
  return html`<tr data-i=${i} aria-rowindex=${i + 2} class=${look}>${columns.map((c, nth) => (nth === 0
    ? html`<th scope="row" key=${c.id} class=${c.num ? 'num' : undefined}>${c.cell(row)}</th>`
    : html`<td key=${c.id} class=${c.num ? 'num' : undefined}>${c.cell(row)}</td>`))}</tr>`;
}

// A row is drawn again for other properties, or when it asks for it itself because a signal
// moved that one of its cells has read; then the properties are the same object.
function differs(next) {
  const now = this.props;
  return next === now || next.row !== now.row || next.i !== now.i || next.columns !== now.columns || next.look !== now.look;
}

function Heading({ column, sort, onSort }) {
  const on = sort.replace(/^-/, '') === column.id;
  const down = on && sort.startsWith('-');
  if (!column.value) return html`<th scope="col" class=${column.num ? 'num' : ''}><span>${column.label}</span></th>`;
  return html`<th scope="col" class=${column.num ? 'num' : ''} aria-sort=${on ? (down ? 'descending' : 'ascending') : 'none'}>
    <button type="button" onClick=${() => onSort(on && !down ? '-' + column.id : column.id)}>${column.label}${on && html`<${Icon} name=${down ? 'down' : 'up'} size="12" />`}</button></th>`;
}

// Follows the frame's scrolling and size, and draws anew when other rows come into sight.
function useWindow(frame, count) {
  const [row, setRow] = useState(36);
  const [{ top, height }, setView] = useState({ top: 0, height: 700 });
  useLayoutEffect(() => {
    const at = frame.current;
    const scrolled = () => {
      const now = at.scrollTop;
      // Rows are drawn in advance, so a few pixels more or less need no drawing.
      setView((v) => (Math.abs(v.top - now) >= row * 3 || (now === 0) !== (v.top === 0) ? { ...v, top: now } : v));
    };
    const sizes = new ResizeObserver(() => setView((v) => (Math.abs(v.height - at.clientHeight) > 1 ? { top: at.scrollTop, height: at.clientHeight } : v)));
    sizes.observe(at);
    at.addEventListener('scroll', scrolled, { passive: true });
    scrolled();
    return () => {
      sizes.disconnect();
      at.removeEventListener('scroll', scrolled);
    };
  }, [row]);
  // One row is measured when the table or its size is new: people enlarge text.
  const drawn = count > 0;
  useLayoutEffect(() => {
    const real = frame.current.querySelector('tbody tr[data-i]')?.getBoundingClientRect().height ?? 0;
    if (real > 0 && Math.abs(real - row) > 0.5) setRow(real);
  }, [height, drawn]);
  const show = (index) => {
    const at = frame.current;
    const head = at.querySelector('thead').offsetHeight;
    at.scrollTop = reveal({ top: at.scrollTop, height: at.clientHeight, row, head, index });
  };
  return { ...windowOf({ top, height, row, count }), slots: slotsOf({ height, row }), show };
}
