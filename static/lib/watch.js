// Where a proxy lets no websocket through, the same over server-sent events. It looks like a
// websocket to the feed and says what the server's feed would say, so nobody else needs to
// know of it. What an event stream lacks, such as heartbeats, is read every few seconds.
import { base, get, me } from './api.js';

const pollMillis = 10_000;

/**
 * A whole snapshot as the server's feed would say it: topics with equal queues share a list.
 * @param {Map<string, object[]>} topics their queues by name
 */
export function snapshotOf(topics) {
  const places = new Map();
  const layouts = [];
  const list = [...topics].map(([topic, queues]) => {
    const key = JSON.stringify(queues);
    if (!places.has(key)) places.set(key, layouts.push(queues) - 1);
    return { topic, layout: places.get(key) };
  });
  return { op: 'snapshot', first: true, last: true, layouts, topics: list };
}

export class WatchSocket {
  #source = null;
  #staged = null;
  #timer = null;
  readyState = 0;

  constructor() {
    this.#open();
  }

  #open() {
    this.#source?.close();
    this.#staged = { members: [], writePerms: [], topics: new Map() };
    const source = this.#source = new EventSource(new URL('watch?snapshot=true', base));
    const on = (event, f) => source.addEventListener(event, (e) => f(JSON.parse(e.data)));
    on('hello', (x) => {
      this.readyState = 1;
      this.onopen?.();
      this.#say({ op: 'hello', epoch: x.revision.split('.')[0], time: x.time, heartbeatMillis: 15_000, role: me.value?.role });
    });
    on('snapshot', (x) => x.changes.forEach((c) => this.#stage(c, Date.parse(x.time))));
    on('bookmark', (x) => {
      if (this.#staged) this.#present(x);
      this.#say({ op: 'bookmark', revision: x.revision, time: x.time });
    });
    on('change', (x) => this.#say({ op: 'changes', items: [x] }));
    on('reset', (x) => this.#say({ op: 'reset', reason: x.reason, time: x.time, revision: x.revision }));
    source.onerror = () => {
      this.close();
      this.onclose?.({ code: 1006 });
    };
  }

  #say(data) {
    this.onmessage?.({ data });
  }

  #stage(c, at) {
    const s = this.#staged;
    const name = { brokerName: c.brokerName, brokerId: c.brokerId };
    if (c.kind === 'member') s.members.push({ role: c.brokerId === 0 ? 'master' : 'slave', lastUpdateTimestamp: at, ...c.after, ...name });
    else if (c.kind === 'writePerm') s.writePerms.push({ brokerName: c.brokerName, topicCount: c.topicCount });
    else if (c.kind === 'topic') {
      if (!s.topics.has(c.topic)) s.topics.set(c.topic, []);
      s.topics.get(c.topic).push({ brokerName: c.brokerName, ...c.after });
    }
  }

  // The first bookmark ends the snapshot.
  #present(x) {
    const { members, writePerms, topics } = this.#staged;
    this.#staged = null;
    this.#say({ ...snapshotOf(topics), revision: x.revision, members, writePerms });
    this.#poll();
  }

  async #poll() {
    clearTimeout(this.#timer);
    try {
      const sets = (await get('brokers?limit=10000')).items;
      if (this.readyState === 1) this.#say({ op: 'changes', items: [], groups: sets });
    } catch { /* the stream tells when the server is gone */ }
    if (this.readyState === 1) this.#timer = setTimeout(() => this.#poll(), pollMillis);
  }

  /** The feed only ever asks for a snapshot: the stream begins anew with one. */
  send() {
    if (this.#staged === null) this.#open();
  }

  close() {
    this.readyState = 3;
    clearTimeout(this.#timer);
    this.#source.close();
  }
}
