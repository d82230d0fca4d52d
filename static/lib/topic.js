// What the list shows of a topic, worked out from its queues on each broker.
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
