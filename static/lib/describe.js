// What a change set was about: the most telling of its changes, and how many more.

const ends = { deleted: 'minus', expired: 'expired', disconnected: 'expired', rejected: 'cross' };
const icons = { created: 'plus', changed: 'change', wiped: 'lock', restored: 'check', ownerChanged: 'change', started: 'play', stopping: 'pause', diverged: 'peers', converged: 'check', unreachable: 'cross', reachable: 'check', ...ends };

// A member that left explains the topics that left with it, a wipe the perms it changed.
const order = ['server', 'peer', 'writePerm', 'member', 'kv', 'config', 'topic', 'cluster'];

/**
 * @param {any} set a change set
 * @returns {{key: string, icon: string, op: string, name: string, path: string[]|null, n: number, more: number, values: object}}
 */
export function describe(set) {
  const first = [...set.changes].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))[0] ?? { kind: 'server', op: 'changed' };
  const n = set.counts?.[first.kind] ?? 1;
  const total = Object.values(set.counts ?? {}).reduce((a, b) => a + b, 0);
  const same = set.changes.filter((c) => c.kind === first.kind).every((c) => c.op === first.op);
  return {
    key: `change.${first.kind}.${first.op}`, icon: icons[first.op] ?? 'info', op: first.op, n,
    more: total - 1, values: { id: first.brokerId ?? '', topics: first.topicCount ?? 0, detail: first.detail ?? '', same },
    ...subject(first),
  };
}

function subject(c) {
  switch (c.kind) {
    case 'member': return { name: c.brokerName + (c.brokerId === undefined ? '' : '/' + c.brokerId), path: ['brokers', c.brokerName] };
    case 'writePerm': return { name: c.brokerName, path: ['brokers', c.brokerName] };
    case 'topic': return { name: c.topic, path: ['topics', c.topic] };
    case 'kv': return { name: c.namespace + '/' + c.key, path: ['kv', c.namespace, c.key] };
    case 'config': return { name: c.key, path: ['config'] };
    case 'peer': return { name: c.peer, path: ['peers', c.peer] };
    case 'cluster': return { name: c.cluster, path: ['clusters'] };
  }
  return { name: c.detail ?? '', path: null };
}

// A field that holds fields, such as a data version, is told by its parts.
function flat(fields) {
  const out = {};
  for (const [k, v] of Object.entries(fields ?? {})) {
    if (v && typeof v === 'object' && !Array.isArray(v)) for (const [inner, w] of Object.entries(v)) out[k + '.' + inner] = w;
    else out[k] = v;
  }
  return out;
}

/**
 * The fields of a change that differ, before and after, sorted.
 * @returns {{field: string, before: string|null, after: string|null}[]}
 */
export function fields(change) {
  const [before, after] = [flat(change.before), flat(change.after)];
  const text = (v) => (v === undefined ? null : typeof v === 'string' ? v : JSON.stringify(v));
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
    .map((field) => ({ field, before: text(before[field]), after: text(after[field]) })).filter((f) => f.before !== f.after);
}
