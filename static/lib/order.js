// The order configuration of a topic: "broker-a:4;broker-b:4".

/** @returns {{broker: string, queues: number}[]|null} null if the text is of another form */
export function parseOrder(text) {
  if (!text.trim()) return [];
  const out = [];
  for (const part of text.split(';')) {
    const m = /^\s*([^:;\s]+):(\d{1,6})\s*$/.exec(part);
    if (!m) return null;
    out.push({ broker: m[1], queues: Number(m[2]) });
  }
  return out;
}

/** The inverse of parseOrder. */
export const writeOrder = (rows) => rows.map((r) => `${r.broker}:${r.queues}`).join(';');
