// Holding an order while somebody points at it.

/**
 * The rows in the order in which they were shown, with their present values. Rows that
 * are gone keep their place, marked; rows that came are counted and wait.
 * @param {{row: any, gone?: boolean}[]} shown
 * @param {any[]} rows
 * @param {(row: any) => string} key
 */
export function hold(shown, rows, key) {
  const now = new Map();
  for (const row of rows) now.set(key(row), row);
  const list = shown.map((s) => {
    const k = key(s.row);
    const row = now.get(k);
    if (row === undefined) return { row: s.row, gone: true };
    now.delete(k);
    return { row };
  });
  return { list, news: now.size };
}
