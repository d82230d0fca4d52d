// The one table of the dashboard: a real <table> of which only the rows in sight are
// drawn, so that a hundred thousand rows cost what thirty do. Rows have one height, which
// is measured, not assumed: people enlarge text.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { sortRows } from '../lib/sort.js';
import { hold } from '../lib/hold.js';
import { reveal, windowOf } from '../lib/window.js';
import { table } from '../lib/live.js';
import { Icon, copyText } from './atoms.js';

/**
 * @typedef {object} Column
 * @property {string} id
 * @property {any} label
 * @property {(row: any) => any} cell
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

  const { first, last, before, after, show } = useWindow(frame, list.length);

  const rowLink = (i) => frame.current?.querySelector(`tr[data-i="${i}"] a`);
  // Where the keys are on their way to: they may come faster than rows are drawn.
  const goal = useRef(null);
  const move = (by) => {
    const at = goal.current ?? document.activeElement?.closest?.('tr[data-i]')?.dataset.i;
    const next = goal.current = Math.max(0, Math.min(list.length - 1, at === undefined ? first : Number(at) + by));
    show(next);
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
  const click = (e, row) => {
    if (!rowHref || e.target.closest('a, button, input, label') || getSelection().toString()) return;
    location.hash = rowHref(row);
  };
  const width = columns.reduce((sum, c) => sum + (parseFloat(c.width) || 14), 0);
  return html`<div class=${tall ? 'dt tallrows' : 'dt'} ref=${frame} tabindex="0" role="region" aria-label=${label} onMouseEnter=${focusIn} onMouseLeave=${leave} onFocusOut=${focusOut}>
    <table aria-rowcount=${list.length + 1} style=${{ minWidth: width + 'rem' }}>
      <colgroup>${columns.map((c) => html`<col key=${c.id} style=${{ width: c.width ?? 'auto' }} />`)}</colgroup>
      <thead><tr aria-rowindex="1">${columns.map((c) => html`<${Heading} key=${c.id} column=${c} sort=${sort} onSort=${onSort} />`)}</tr></thead>
      <tbody onFocusIn=${focusIn}>${before > 0 && html`<tr class="pad" aria-hidden="true" key="before"><td style=${{ '--h': before + 'px' }} colspan=${columns.length} /></tr>`}
        ${list.slice(first, last).map(({ row, gone }, at) => {
          const i = first + at;
          return html`<tr key=${rowKey(row)} data-i=${i} aria-rowindex=${i + 2} onClick=${(e) => click(e, row)}
            class=${(gone ? 'gone ' : '') + (rowHref ? 'go ' : '') + (rowClass?.(row) ?? '')}>${columns.map((c, nth) => (nth === 0
              ? html`<th scope="row" key=${c.id} class=${c.num ? 'num' : ''}>${c.cell(row)}</th>`
              : html`<td key=${c.id} class=${c.num ? 'num' : ''}>${c.cell(row)}</td>`))}</tr>`;
        })}
        ${after > 0 && html`<tr class="pad" aria-hidden="true" key="after"><td style=${{ '--h': after + 'px' }} colspan=${columns.length} /></tr>`}</tbody></table></div>
    <div class="foot-note"><span>${total === undefined || total === rows.length ? t('table.rows', { n: rows.length }) : t('table.of', { shown: rows.length, n: total })}</span>
      ${news > 0 && html`<button type="button" class="btn tiny" onClick=${() => setRelease(release + 1)}>${t('table.news', { n: news })}</button>`}</div>`;
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
    const look = () => setView((v) => {
      // Rows are drawn in advance, so a few pixels more or less need no drawing.
      const moved = Math.abs(v.top - at.scrollTop) >= row * 3 || Math.abs(v.height - at.clientHeight) > 1 || (at.scrollTop === 0) !== (v.top === 0);
      return moved ? { top: at.scrollTop, height: at.clientHeight } : v;
    });
    const sizes = new ResizeObserver(look);
    sizes.observe(at);
    at.addEventListener('scroll', look, { passive: true });
    look();
    return () => {
      sizes.disconnect();
      at.removeEventListener('scroll', look);
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
  return { ...windowOf({ top, height, row, count }), show };
}
