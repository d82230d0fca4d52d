// Which rows of a long table are in sight. All rows have one height, so this is a division.

const spareRows = 5;

/**
 * @param {{top: number, height: number, row: number, count: number, spare?: number}} o
 *   what is scrolled, the height of the frame and of a row, in pixels; how many rows there
 *   are, and how many beyond the edges are drawn in advance
 * @returns {{first: number, last: number, before: number, after: number}} the rows from
 *   first up to but not last, and the height of what stands before and after them
 */
export function windowOf({ top, height, row, count, spare = spareRows }) {
  const first = Math.max(0, Math.min(count, Math.floor(top / row)) - spare);
  const last = Math.max(first, Math.min(count, Math.ceil((top + height) / row) + spare));
  return { first, last, before: first * row, after: (count - last) * row };
}

/** The most rows that a window has, wherever it stands. */
export const slotsOf = ({ height, row, spare = spareRows }) => Math.ceil(height / row) + 1 + 2 * spare;

/** Where to scroll so that a row is wholly in sight below a sticky head; top if it is already. */
export function reveal({ top, height, row, head, index }) {
  const at = index * row;
  if (at < top) return at;
  return Math.max(top, at + row + head - height);
}
