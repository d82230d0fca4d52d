// The one copy of the registry in the browser. The feed fills it with a snapshot and
// keeps it with change sets; views read it and are drawn again when one of its counters
// moves. Counters move at most four times a second however much arrives, so that a storm
// costs the page no more than a breeze.
import { computed, signal } from '../vendor/preact.js';
import { serverNow } from './clock.js';
import { linesOf, memberKey, Topic, typeOf } from './model.js';
import { Staged } from './staged.js';

const paintMillis = 250;
const keepEvents = 1000;
const keepHeld = 2000; // messages kept while paused; more than that is read anew afterwards
const keepMarks = 400;

export class Store {
  #staged = null;
  #lastPaint = -Infinity;
  #timer = null;
  #dirty = new Set();
  #held = null;
  #clusterOf = null;
  #names = null;
  #told = { epoch: '', revision: 0 }; // the last set that is among the events
  #now;

  constructor({ now = () => performance.now() } = {}) {
    this.#now = now;
    /** Members by memberKey, topics by name, standing wipes of write permission by broker name. */
    this.members = new Map();
    this.topics = new Map();
    this.wipes = new Map();
    /** Change sets as they came and markers of gaps; what earlier sets say of members. Oldest first. */
    this.events = [];
    this.memberPast = [];
    /** Names of topics and members changed a moment ago, and what changed. */
    this.marks = new Map();
    this.epoch = '';
    this.revision = 0;

    /** True once everything is here. */
    this.ready = signal(false);
    /** Until then: {topics, brokers}, how many topics come, and {topicCount, unwritable} by broker name. */
    this.outline = signal(null);
    /** True once members are here, and topics at least in outline. */
    this.known = computed(() => this.ready.value || this.outline.value !== null);
    for (const what of ['members', 'topics', 'names', 'events', 'kv', 'config']) this[what + 'Moved'] = signal(0);
    this.revisionText = signal('');
    /** Whether events from before the page was opened were asked for. */
    this.past = false;
    /** null, or how much waits: {since, count}. */
    this.paused = signal(null);
    /** Called when the feed has to be asked for a snapshot again. */
    this.onResync = () => {};
  }

  /** Takes one message of the feed. */
  take(msg) {
    if (this.#held && (msg.op === 'changes' || msg.op === 'snapshot' || msg.op === 'reset')) {
      if (this.#held.length < keepHeld) this.#held.push(msg);
      else this.#held.overflow = true;
      this.paused.value = { ...this.paused.peek(), count: this.paused.peek().count + (msg.items?.length ?? 0) };
      return;
    }
    if (msg.op === 'snapshot') this.#snapshot(msg);
    else if (msg.op === 'changes') this.#changes(msg);
    else if (msg.op === 'bookmark') this.#bookmark(msg);
    else if (msg.op === 'reset') this.#reset(msg);
  }

  /** Holds back everything that would move the page. */
  pause(at) {
    if (this.#held) return;
    this.#held = [];
    this.paused.value = { since: at, count: 0 };
  }

  /** Lets what was held back happen. */
  resume() {
    const held = this.#held;
    if (!held) return;
    this.#held = null;
    this.paused.value = null;
    if (held.overflow) this.onResync('paused');
    else for (const msg of held) this.take(msg);
  }

  #snapshot(msg) {
    if (!this.#staged || msg.first) this.#staged = new Staged();
    const next = this.#staged;
    next.add(msg);
    if (msg.outline && !this.ready.peek()) {
      Object.assign(this, { members: next.members, wipes: next.wipes });
      this.outline.value = { topics: msg.outline.topics, brokers: new Map(msg.outline.brokers.map((b) => [b.brokerName, b])) };
      this.#moved('members', 'names');
    }
    if (!msg.last) return;
    // The page shows the old state until the new one is whole: no flash of emptiness.
    this.#staged = null;
    Object.assign(this, { members: next.members, topics: next.topics, wipes: next.wipes });
    this.marks.clear();
    const { epoch, revision } = this;
    this.#see(msg.revision);
    // What came between the old state and the new one was not told as changes.
    if (epoch && (epoch !== this.epoch || revision < this.revision) && !this.events.at(-1)?.gap) this.#gap(msg);
    this.ready.value = true;
    this.outline.value = null;
    this.#moved('members', 'topics', 'names', 'kv', 'config');
  }

  #see(text) {
    const dot = text.lastIndexOf('.');
    this.epoch = text.slice(0, dot);
    this.revision = Number(text.slice(dot + 1));
    this.#moved('revision');
  }

  #changes({ items, groups = [], facts = [] }) {
    for (const set of items) {
      const dot = set.revision.lastIndexOf('.');
      const revision = Number(set.revision.slice(dot + 1));
      const report = set.changes.length > 0 && set.changes.every((c) => c.op === 'rejected' || c.kind === 'server' || c.kind === 'peer');
      const epoch = set.revision.slice(0, dot);
      // After a snapshot of a moment ago the same sets come again.
      if (report || epoch !== this.#told.epoch || revision > this.#told.revision) {
        this.events.push(set);
        this.#moved('events');
      }
      if (report) continue;
      if (epoch !== this.#told.epoch || revision > this.#told.revision) this.#told = { epoch, revision };
      if (epoch === this.epoch && revision <= this.revision) continue;
      const at = Date.parse(set.time);
      for (const c of set.changes) this.#change(c, at, set.cause?.actor);
      this.#see(set.revision);
      // Only the first changes of a large set are sent; the rest is cheaper read anew.
      if (set.truncated) this.onResync('truncated');
    }
    // Beside the differences the server tells how the groups stand now: what a member
    // that has just come is in full.
    for (const g of groups) this.#group(g);
    for (const { topic, ...f } of facts) {
      const old = this.topics.get(topic);
      if (old) this.topics.set(topic, new Topic(topic, old.queues, { ...old, ...f }));
    }
    if (this.events.length > keepEvents * 1.2) this.events = this.events.slice(-keepEvents);
  }

  #group({ brokerName, members }) {
    for (const [key, m] of this.members) if (m.brokerName === brokerName) this.members.delete(key);
    for (const m of members) this.members.set(memberKey(m), m);
    if (!members.length) this.wipes.delete(brokerName);
    this.#moved('members', 'names');
  }

  /**
   * Adds change sets from before the feed began, newest first as the API lists them, and
   * what they say of members.
   */
  addPast(sets, members = []) {
    const known = new Set(this.events.filter((e) => !e.gap).map((e) => e.revision + e.time));
    this.events = [...sets.filter((s) => !known.has(s.revision + s.time)).reverse(), ...this.events];
    this.memberPast = members.toReversed();
    this.#moved('events');
  }

  #change(c, at, actor) {
    switch (c.kind) {
      case 'member': return this.#member(c, at);
      case 'topic': return this.#topic(c, at);
      case 'writePerm':
        if (c.op === 'wiped') this.wipes.set(c.brokerName, { brokerName: c.brokerName, since: new Date(at).toISOString(), topicCount: c.topicCount, actor });
        else this.wipes.delete(c.brokerName);
        return this.#moved('members');
      case 'kv': return this.#moved('kv');
      case 'config':
        // Whether a slave shows as acting master hangs on this rule.
        if (c.key === 'supportActingMaster') this.onResync('rules');
        return this.#moved('config');
    }
  }

  #member(c, at) {
    const key = memberKey(c);
    if (c.op === 'deleted' || c.op === 'expired' || c.op === 'disconnected') {
      this.members.delete(key);
      if (![...this.members.values()].some((m) => m.brokerName === c.brokerName)) this.wipes.delete(c.brokerName);
      this.#moved('names');
    } else if (c.op !== 'rejected') {
      const old = this.members.get(key);
      if (!old) this.#moved('names');
      this.members.set(key, {
        registeredAt: new Date(at).toISOString(), role: c.brokerId === 0 ? 'master' : 'slave', ...old, ...c.after,
        brokerName: c.brokerName, brokerId: c.brokerId, clusterName: c.after?.clusterName ?? old?.clusterName ?? c.cluster,
        lastUpdateTimestamp: Math.max(at, old?.lastUpdateTimestamp ?? 0), unconfirmed: false, suspect: c.code === 'suspect',
      });
    }
    this.#mark(key, c, at);
    this.#moved('members');
  }

  #topic(c, at) {
    const old = this.topics.get(c.topic);
    const facts = { updatedAt: at };
    if (c.op === 'deleted') {
      const next = old?.with(c.brokerName, null, facts);
      if (!next || next.queues.length === 0) this.topics.delete(c.topic);
      else this.topics.set(c.topic, next);
    } else {
      const was = old?.queues.find((q) => q.brokerName === c.brokerName);
      const { readQueueNums = 0, writeQueueNums = 0, perm = 0, topicSysFlag = 0 } = { ...was, ...c.after };
      const queue = { brokerName: c.brokerName, readQueueNums, writeQueueNums, perm, topicSysFlag };
      this.topics.set(c.topic, (old ?? new Topic(c.topic, [])).with(c.brokerName, queue, facts));
    }
    this.#mark(c.topic, c, at);
    this.#moved('topics');
  }

  #mark(key, change, at) {
    if (this.marks.size >= keepMarks) this.marks.clear();
    this.marks.set(key, { change, at });
  }

  #bookmark(msg) {
    // A mark is shown for ten seconds; here is the place that comes by anyway.
    const old = Date.parse(msg.time) - 10_000;
    const faded = [...this.marks].filter(([key, mark]) => mark.at < old && this.marks.delete(key)).length > 0;
    for (const h of msg.heard ?? []) {
      const key = memberKey(h);
      const m = this.members.get(key);
      if (m) this.members.set(key, { ...m, lastUpdateTimestamp: h.lastUpdateTimestamp });
    }
    if (msg.heard?.length || faded) this.#moved('members');
    if (faded) this.#moved('topics');
  }

  #reset(msg) {
    this.#gap(msg);
    this.onResync(msg.reason);
  }

  #gap({ reason, time, revision }) {
    this.events.push({ gap: true, reason, time: new Date(time ?? serverNow()).toISOString(), revision });
    this.#moved('events');
  }

  #moved(...what) {
    for (const w of what) this.#dirty.add(w);
    if (this.#timer) return;
    const wait = this.#lastPaint + paintMillis - this.#now();
    this.#timer = setTimeout(() => this.#paint(), Math.max(0, wait));
  }

  #paint() {
    this.#timer = null;
    this.#lastPaint = this.#now();
    const dirty = this.#dirty;
    this.#dirty = new Set();
    if (dirty.has('names')) this.#names = this.#clusterOf = null;
    for (const w of dirty) {
      if (w === 'revision') this.revisionText.value = this.epoch + '.' + this.revision;
      else this[w + 'Moved'].value++;
    }
  }

  /** Draws what waits at once; for a person's own action, and for tests. */
  flush() {
    clearTimeout(this.#timer);
    if (this.#dirty.size) this.#paint();
    this.#timer = null;
  }

  /** How many topics there are. */
  get topicCount() {
    return this.outline.peek()?.topics ?? this.topics.size;
  }

  /** The cluster of each broker name. */
  get clusterOf() {
    if (!this.#clusterOf) {
      this.#clusterOf = new Map();
      for (const m of this.members.values()) if (!this.#clusterOf.has(m.brokerName)) this.#clusterOf.set(m.brokerName, m.clusterName);
    }
    return this.#clusterOf;
  }

  /** The type of a topic; see typeOf. */
  typeOf(name) {
    this.#names ??= new Set([...this.clusterOf.keys(), ...this.clusterOf.values()]);
    return typeOf(name, (n) => this.#names.has(n));
  }

  /** The clusters that serve a topic, sorted. */
  clustersOf(topic) {
    return [...new Set(topic.queues.map((q) => this.clusterOf.get(q.brokerName) ?? '?'))].sort();
  }

  /** The content as sorted lines; see linesOf. */
  dump() {
    return linesOf(this);
  }
}
