// Sorting rows. Names compare by their bytes, as the API sorts them: a language's own
// order would be nicer to look at and ten times slower with twenty thousand names.

/**
 * A sorted copy. Rows with equal values keep their order.
 * @param {any[]} rows
 * @param {((row: any) => any)|undefined} value without it the rows stay as they are
 * @param {boolean} [down]
 */
export function sortRows(rows, value, down = false) {
  if (!value) return rows;
  const keyed = rows.map((row) => ({ row, key: value(row) }));
  const sign = down ? -1 : 1;
  keyed.sort((a, b) => (a.key < b.key ? -sign : a.key > b.key ? sign : 0));
  return keyed.map((k) => k.row);
}
