// Where not even an event stream comes through, because something on the way keeps answers
// until they end: lists are read once, then each call waits until the registry has moved.
// Like watch.js it looks like a websocket to the feed. Of reports that move no revision,
// such as refusals, it hears with the next change.
import { get, me, send } from './api.js';
import { serverNow } from './clock.js';
import { snapshotOf } from './watch.js';

const waitSeconds = 20;
const past = 200; // change sets read at once; after more than that the lists are read again

export class PollSocket {
  #stop = new AbortController();
  #again = false;
  readyState = 0;

  constructor() {
    this.#run().catch(() => {
      if (this.readyState === 3) return;
      this.close();
      this.onclose?.({ code: 1006 });
    });
  }

  #get(address) {
    return get(address, this.#stop.signal);
  }

  #say(data) {
    if (this.readyState === 1) this.onmessage?.({ data });
  }

  async #run() {
    let etag = '';
    let told = null; // the revision up to which everything was said
    for (;;) {
      if (told === null || this.#again) {
        this.#again = false;
        told = await this.#snapshot();
      }
      const digest = await send('GET', `digest?wait=${waitSeconds}s`, { headers: etag ? { 'If-None-Match': etag } : {}, signal: this.#stop.signal });
      etag = digest.etag ?? etag;
      const sets = await this.#get('brokers?limit=10000'); // when members were last heard of
      const events = await this.#get(`events?limit=${past}`);
      const items = events.items.filter((s) => numberOf(s.revision) > numberOf(told)).reverse();
      if (epochOf(events.revision) !== epochOf(told) || items.length === past) told = null;
      else {
        this.#say({ op: 'changes', items, groups: sets.items });
        told = items.at(-1)?.revision ?? told;
        this.#say({ op: 'bookmark', revision: told, time: new Date(serverNow()).toISOString() });
      }
    }
  }

  async #snapshot() {
    // What changes while the pages are read is said again afterwards.
    const sets = await this.#get('brokers?limit=10000');
    // A hundred thousand topics take longer than the feed waits for a server's first word.
    if (this.readyState === 0) {
      this.readyState = 1;
      this.onopen?.();
      this.#again = false; // the feed asks for what is about to come
      this.#say({ op: 'hello', epoch: epochOf(sets.revision), heartbeatMillis: (waitSeconds + 5) * 1000, role: me.value?.role });
    }
    const topics = new Map();
    for (let after = ''; after !== undefined;) {
      const page = await this.#get('routes?match=*&actingMaster=off&limit=5000' + (after && '&after=' + encodeURIComponent(after)));
      for (const r of page.items) topics.set(r.topic, r.route.queueDatas);
      after = page.next || undefined;
    }
    const members = sets.items.flatMap((s) => s.members);
    const writePerms = sets.items.filter((s) => s.members.some((m) => m.writePerm === 'wiped')).map((s) => ({ brokerName: s.brokerName }));
    this.#say({ ...snapshotOf(topics), revision: sets.revision, members, writePerms });
    return sets.revision;
  }

  /** The feed only ever asks for a snapshot: it comes with the next round. */
  send() {
    this.#again = true;
  }

  close() {
    this.readyState = 3;
    this.#stop.abort();
  }
}

const epochOf = (revision) => revision.slice(0, revision.lastIndexOf('.'));
const numberOf = (revision) => Number(revision.slice(revision.lastIndexOf('.') + 1));
