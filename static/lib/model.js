// What views show of topics and brokers, worked out from what the store holds; and what is
// wrong with them.
import { permText } from './format.js';

// Names that RocketMQ keeps for itself; brokers bring them along without being asked.
const systemNames = new Set([
  'TBW102', 'SCHEDULE_TOPIC_XXXX', 'BenchmarkTest', 'RMQ_SYS_TRANS_HALF_TOPIC', 'RMQ_SYS_TRACE_TOPIC',
  'RMQ_SYS_TRANS_OP_HALF_TOPIC', 'TRANS_CHECK_MAX_TIME_TOPIC', 'SELF_TEST_TOPIC', 'OFFSET_MOVED_EVENT', 'CHECKPOINT_TOPIC',
]);

/** The types in the order in which chips show them. */
export const types = ['normal', 'retry', 'dlq', 'lmq', 'reply', 'system'];

/**
 * The type of a topic, by its name. Brokers register topics named after themselves and
 * their cluster; those are the system's too.
 * @param {string} name
 * @param {(name: string) => boolean} isPeer whether a cluster or broker has that name
 */
export function typeOf(name, isPeer) {
  if (name.startsWith('%')) {
    if (name.startsWith('%RETRY%')) return 'retry';
    if (name.startsWith('%DLQ%')) return 'dlq';
    if (name.startsWith('%LMQ%')) return 'lmq';
  }
  if (name.endsWith('_REPLY_TOPIC')) return 'reply';
  if (systemNames.has(name) || name.startsWith('rmq_sys_') || isPeer(name)) return 'system';
  return 'normal';
}

/** What tells one member from another. */
export const memberKey = (m) => m.brokerName + '/' + m.brokerId;

/** @typedef {{brokerName: string, readQueueNums: number, writeQueueNums: number, perm: number, topicSysFlag: number}} Queue */

/**
 * A topic. It is never changed, only replaced, so that a row is drawn again exactly
 * when its topic is another object.
 */
export class Topic {
  /**
   * @param {string} name
   * @param {Queue[]} queues sorted by broker; shared between topics with the same queues
   * @param {{updatedAt?: number, messageType?: string, order?: boolean, mapping?: boolean}} [facts]
   */
  constructor(name, queues, facts = {}) {
    this.name = name;
    this.queues = queues;
    this.updatedAt = facts.updatedAt ?? 0;
    this.messageType = facts.messageType ?? '';
    this.order = Boolean(facts.order);
    this.mapping = Boolean(facts.mapping);
  }

  get #sums() {
    return sumsOf(this.queues);
  }

  get readQueues() { return this.#sums.read; }
  get writeQueues() { return this.#sums.write; }
  get permText() { return this.#sums.perm; }
  get permMixed() { return this.#sums.mixed; }
  get unit() { return (this.#sums.flags & 1) !== 0; }
  get unitSub() { return (this.#sums.flags & 2) !== 0; }
  get writable() { return this.#sums.writable; }

  /** The topic with one broker's queues replaced, or taken out if queue is null. */
  with(brokerName, queue, facts) {
    const queues = this.queues.filter((q) => q.brokerName !== brokerName);
    if (queue) {
      const at = queues.findIndex((q) => q.brokerName > brokerName);
      queues.splice(at < 0 ? queues.length : at, 0, queue);
    }
    return new Topic(this.name, queues, { ...this, ...facts });
  }
}

// Thousands of topics share one list of queues, and with it these sums.
const sums = new WeakMap();

function sumsOf(queues) {
  let s = sums.get(queues);
  if (!s) {
    s = { read: 0, write: 0, flags: 0, writable: false, mixed: false, perm: '' };
    for (const q of queues) {
      s.read += q.readQueueNums;
      s.write += q.writeQueueNums;
      s.flags |= q.topicSysFlag;
      if (q.perm & 2) s.writable = true;
      if (q.perm !== queues[0].perm) s.mixed = true;
    }
    s.perm = queues.length ? permText(queues.reduce((p, q) => p | q.perm, 0)) : '---';
    sums.set(queues, s);
  }
  return s;
}

/** live, late (more than half of its time is over) or expired, at a moment. */
export function stateOf(member, now) {
  const left = allowed(member) - (now - member.lastUpdateTimestamp);
  if (left < 0 && !member.suspect) return 'expired';
  return left < member.heartbeatTimeoutMillis / 2 ? 'late' : 'live';
}

// How long a member may be silent: one from before a restart as long as the server says.
const allowed = (m) => (m.unconfirmed && m.expiresAt ? Math.max(m.heartbeatTimeoutMillis, Date.parse(m.expiresAt) - m.lastUpdateTimestamp) : m.heartbeatTimeoutMillis);

/** Milliseconds until the member leaves unless it is heard of. */
export const leftOf = (member, now) => Math.max(0, member.lastUpdateTimestamp + allowed(member) - now);

/**
 * The broker sets, sorted by name.
 * @param {import('./store.js').Store} store
 * @param {Map<string, number>} counts topics by broker name
 */
export function groups(store, counts) {
  const byName = new Map();
  for (const m of store.members.values()) {
    let g = byName.get(m.brokerName);
    if (!g) {
      g = { name: m.brokerName, cluster: m.clusterName, zone: '', members: [], topics: counts.get(m.brokerName) ?? 0, wipe: store.wipes.get(m.brokerName) ?? null };
      byName.set(m.brokerName, g);
    }
    g.members.push(m);
    if (m.zoneName) g.zone = m.zoneName;
  }
  for (const g of byName.values()) {
    g.members.sort((a, b) => a.brokerId - b.brokerId);
    g.cluster = g.members[0].clusterName;
    g.hasMaster = g.members.some((m) => m.brokerId === 0);
    g.acting = g.hasMaster ? null : g.members.find((m) => m.brokerId > 0 && m.role === 'actingMaster') ?? null;
    g.clash = g.members.some((m) => m.clusterName !== g.cluster);
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * What a store holds as sorted lines, for comparing with another reader of the registry.
 * Times of heartbeats are left out: they are no content.
 */
export function linesOf({ members, topics }) {
  const lines = [];
  for (const m of members.values()) lines.push(`member ${m.clusterName} ${m.brokerName} ${m.brokerId} ${m.brokerAddr}`);
  for (const t of topics.values()) {
    for (const q of t.queues) lines.push(`queue ${t.name} ${q.brokerName} ${q.readQueueNums} ${q.writeQueueNums} ${q.perm} ${q.topicSysFlag}`);
  }
  return lines.sort();
}

/** How many topics each broker name serves. */
export function topicCounts(store) {
  const outline = store.outline.peek();
  if (outline) return new Map([...outline.brokers].map(([name, b]) => [name, b.topicCount]));
  // Topics share their lists of queues, so lists are counted first and read once.
  const lists = new Map();
  for (const t of store.topics.values()) lists.set(t.queues, (lists.get(t.queues) ?? 0) + 1);
  const out = new Map();
  for (const [queues, n] of lists) for (const q of queues) out.set(q.brokerName, (out.get(q.brokerName) ?? 0) + n);
  return out;
}

/** The topics of a broker that nobody can write to. */
export function unwritable(store, brokerName) {
  const outline = store.outline.peek();
  if (outline) return outline.brokers.get(brokerName)?.unwritable ?? 0;
  let n = 0;
  for (const t of store.topics.values()) if (!t.writable && t.queues.some((q) => q.brokerName === brokerName)) n++;
  return n;
}

/**
 * What needs a look, worst first. Each item has an id, a level, the key of its text with
 * values, how many topics nobody can write to for it, and the path of the place where more is told.
 * @param {{store: any, groups: any[], now: number, stale?: number, checks?: any[], peers?: any[], conflicts?: any[], open?: boolean}} state
 */
export function problems({ store, groups: gs, now, stale = 0, checks = [], peers = [], conflicts = [], open = false }) {
  const out = [];
  // Where conflicts of a broker are explained, if the server tells of one of that kind.
  const quarrel = (kind, broker) => (conflicts.some((c) => c.kind === kind && c.brokerName === broker) ? { path: ['conflicts'], query: { q: broker } } : null);
  if (open) out.push({ id: 'open', level: 'warn', key: 'problem.open', values: {}, path: ['config'], query: { q: 'auth' } });
  const hour = now - 3_600_000;
  for (const g of gs) {
    if (!g.hasMaster) {
      const lost = lastEvent(store, (c) => c.kind === 'member' && c.brokerName === g.name && c.brokerId === 0 && isEnd(c.op));
      out.push({
        id: 'no-master/' + g.name, level: 'bad', key: lost ? 'problem.noMasterSince' : 'problem.noMaster',
        values: { broker: g.name, since: lost ? Date.parse(lost.time) : 0 }, topics: unwritable(store, g.name), path: ['brokers', g.name],
      });
    }
    if (g.clash) out.push({ id: 'clash/' + g.name, level: 'bad', key: 'problem.clash', values: { broker: g.name }, ...quarrel('name-in-two-clusters', g.name) ?? { path: ['brokers', g.name] } });
    if (g.wipe) {
      out.push({ id: 'wiped/' + g.name, level: 'warn', key: 'problem.wiped',
        values: { broker: g.name, n: g.wipe.topicCount ?? g.topics, since: Date.parse(g.wipe.since), actor: g.wipe.actor ?? '' }, path: ['brokers', g.name] });
    }
    const late = g.members.filter((m) => stateOf(m, now) !== 'live');
    if (late.length) {
      out.push({ id: 'late/' + g.name, level: 'warn', key: 'problem.late',
        values: { broker: g.name, ids: late.map((m) => m.brokerId).join(', '), left: Math.min(...late.map((m) => leftOf(m, now))), n: late.length },
        path: ['brokers', g.name] });
    }
  }
  const names = new Set(gs.map((g) => g.name));
  const gone = new Map();
  const refused = new Map();
  for (const set of [...store.memberPast, ...store.events]) {
    if (set.gap || Date.parse(set.time) < hour) continue;
    for (const c of set.changes) {
      if (c.kind !== 'member') continue;
      if (isEnd(c.op) && c.op !== 'deleted' && !names.has(c.brokerName)) gone.set(c.brokerName, set);
      if (c.op === 'rejected') refused.set(c.brokerName + '/' + c.brokerId, { set, change: c });
    }
  }
  for (const [name, set] of gone) {
    out.push({ id: 'gone/' + name, level: 'bad', key: 'problem.gone', values: { broker: name, since: Date.parse(set.time) }, path: ['events'], query: { broker: name } });
  }
  for (const [member, { set, change }] of refused) {
    out.push({ id: 'refused/' + member, level: 'warn', key: 'problem.refused',
      values: { broker: change.brokerName, actor: set.cause?.actor ?? '', since: Date.parse(set.time), why: change.detail ?? change.code ?? '' },
      ...quarrel('registration-refused', change.brokerName) ?? { path: ['events'], query: { broker: change.brokerName } } });
  }
  const clashing = new Set(gs.filter((g) => g.clash).map((g) => g.name));
  for (const c of conflicts) {
    const { kind, brokerName: broker, brokerId: id, brokerAddr: addr } = c;
    const isTold = kind === 'name-in-two-clusters' ? clashing.has(broker) : kind === 'registration-refused' && refused.has(broker + '/' + id);
    if (!c.active || isTold) continue;
    out.push({ id: ['conflict', kind, broker, id, addr, c.code].join('/'), level: levelOf[kind] ?? 'warn', key: 'problem.' + kind, values: { broker, id, addr, against: c.against, n: c.count }, ...quarrel(kind, broker) });
  }
  for (const p of peers) {
    const at = { id: 'peer/' + p.peer, path: ['peers', p.peer] };
    if (p.state === 'unreachable') out.push({ ...at, level: 'warn', key: 'problem.peerAway', values: { peer: p.peer, since: Date.parse(p.since) } });
    else if (p.differences > 0) out.push({ ...at, level: 'bad', key: 'problem.peerDiffers', values: { peer: p.peer, n: p.differences } });
  }
  for (const c of checks) {
    if (c.name === 'peers-agree') continue; // told above, peer by peer
    if (!c.ok) out.push({ id: 'check/' + c.name, level: 'bad', key: 'problem.check', values: { name: c.name, detail: c.detail ?? '' }, path: ['config'] });
  }
  const before = gs.flatMap((g) => g.members).filter((m) => m.unconfirmed);
  if (before.length) {
    out.push({ id: 'unconfirmed', level: 'info', key: 'problem.unconfirmed', values: { n: before.length, left: Math.max(...before.map((m) => leftOf(m, now))) }, path: ['brokers'] });
  }
  if (stale) out.push({ id: 'stale', level: 'info', key: 'problem.stale', values: { n: stale }, path: ['stale'] });
  const weight = { bad: 0, warn: 1, info: 2 };
  return out.sort((a, b) => weight[a.level] - weight[b.level]);
}

// What takes routes from clients is worse than what changes nothing.
const levelOf = { 'name-in-two-clusters': 'bad', 'place-contested': 'bad', 'address-contested': 'bad', 'removal-refused': 'info' };

const isEnd = (op) => op === 'expired' || op === 'disconnected' || op === 'deleted';

function lastEvent(store, match) {
  const fits = (set) => !set.gap && set.changes.some(match);
  return store.events.findLast(fits) ?? store.memberPast.findLast(fits) ?? null;
}
