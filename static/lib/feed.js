// The websocket to the registry: it opens, subscribes, hands messages to the store, and
// opens again when it ends. What it knows of its own health is shown to the reader, who
// must never take old data for fresh.
import { signal } from '../vendor/preact.js';
import { heard } from './clock.js';
import { afterPaint } from './paint.js';

const minWait = 500;
const maxWait = 15_000;
const sliceMillis = 8; // of work on what came, before the browser has its turn

/** Pause before attempt n (from 0): doubled each time, then scattered, so that a
 * thousand pages do not come back to a restarted server in one instant. */
export function backoff(n, random = Math.random) {
  const top = Math.min(maxWait, minWait * 2 ** n);
  return Math.max(minWait, top * (0.5 + random() / 2));
}

/**
 * @typedef {'connecting'|'live'|'reconnecting'|'refused'} Status
 */
export class Feed {
  #socket = null;
  #attempt = 0;
  #timer = null;
  #watch = null;
  #resync = null;
  #wanted = false;
  #opened = false;
  #held = null; // what came while something more urgent is drawn

  /**
   * @param {object} o
   * @param {string} o.url
   * @param {import('./store.js').Store} o.store
   * @param {any} [o.WebSocket] for tests
   * @param {() => Promise<'yes'|'no'|'unreachable'>} [o.mayConnect] asked after a failure: no when the
   *   session is over, which a browser does not tell apart from a dead server
   * @param {(() => Promise<any>)[]} [o.fallbacks] load what to use instead of a websocket, each
   *   once what was used before has twice failed to open
   */
  constructor({ url, store, WebSocket = globalThis.WebSocket, mayConnect = async () => 'unreachable', random = Math.random, fallbacks = [] }) {
    Object.assign(this, { url, store, WebSocket, mayConnect, random, fallbacks: [...fallbacks] });
    /** @type {import('../vendor/preact.js').Signal<Status>} */
    this.status = signal('connecting');
    /** When the last word came, by the browser's clock; 0 before the first. */
    this.lastWord = signal(0);
    /** What hello said: version, role, epoch. */
    this.hello = signal(null);
    /** How often a server that answers otherwise opened no socket. */
    this.failures = 0;
    store.onResync = () => this.resubscribe();
  }

  /** Takes over a socket that was opened before this module was loaded, if one was. */
  adopt(begun) {
    if (!begun) return;
    begun.late = true;
    if (!(begun.socket?.readyState <= 1)) return;
    this.#wanted = true;
    this.#follow(begun.socket);
    this.#opened = begun.socket.readyState === 1;
    for (const data of begun.heard.splice(0)) this.#receive(data);
  }

  start() {
    this.#wanted = true;
    if (!this.#socket) this.#open();
    globalThis.addEventListener?.('online', () => this.#hurry());
    globalThis.document?.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.#hurry();
    });
  }

  stop() {
    this.#wanted = false;
    clearTimeout(this.#timer);
    clearTimeout(this.#watch);
    this.#socket?.close(1000);
    this.#socket = null;
  }

  /** Opens at once instead of waiting for its turn. */
  retry() {
    this.#attempt = 0;
    this.#hurry();
  }

  #hurry() {
    if (!this.#wanted || this.#socket) return;
    clearTimeout(this.#timer);
    this.#open();
  }

  #open() {
    this.#follow(new this.WebSocket(this.url, ['namesrv.v1']));
  }

  #follow(socket) {
    this.#socket = socket;
    this.#opened = false;
    this.#held = null;
    this.#expect(10_000);
    socket.onopen = () => {
      this.#opened = true;
      this.#subscribe();
    };
    socket.onmessage = (e) => {
      if (socket === this.#socket) this.#receive(e.data);
    };
    socket.onclose = (e) => {
      if (socket === this.#socket) this.#closed(e);
    };
  }

  #subscribe() {
    this.#socket.send(JSON.stringify({ op: 'subscribe', id: 'all', snapshot: true }));
  }

  /** Asks for a whole snapshot again, at most once a second. */
  resubscribe() {
    if (this.#resync) return;
    this.#resync = setTimeout(() => {
      this.#resync = null;
      if (this.#socket?.readyState === 1) this.#subscribe();
    }, this.#opened ? 300 : 0);
  }

  // A socket can be dead without a word of it: a laptop that slept, a firewall that forgot.
  #expect(millis) {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => {
      const s = this.#socket;
      if (!s) return;
      this.#closed({ code: 0 });
      s.onclose = s.onmessage = null;
      s.close();
    }, millis);
  }

  #receive(data) {
    this.lastWord.value = Date.now();
    this.#expect(2.5 * (this.hello.peek()?.heartbeatMillis ?? 15_000));
    if (this.#held) this.#held.push(data);
    else this.#read(data);
  }

  #read(data) {
    const msg = typeof data === 'string' ? JSON.parse(data) : data;
    if (msg.time) heard(Date.parse(msg.time));
    if (msg.op === 'hello') {
      this.hello.value = msg;
      return;
    }
    this.store.take(msg);
    if (msg.outline && !this.store.ready.peek()) {
      this.status.value = 'live';
      this.#hold();
    }
    if (msg.op === 'snapshot' && msg.last) {
      this.#attempt = 0;
      this.failures = 0;
      this.status.value = 'live';
    }
  }

  // The outline is enough for the first view: thousands of topics are read when that is on
  // the screen, a few at a time.
  #hold() {
    const held = this.#held = [];
    const drain = () => {
      const end = performance.now() + sliceMillis;
      while (held === this.#held && held.length > 0) {
        if (performance.now() > end) {
          setTimeout(drain);
          return;
        }
        this.#read(held.shift());
      }
      if (held === this.#held) this.#held = null;
    };
    afterPaint(drain);
  }

  #closed(e) {
    clearTimeout(this.#watch);
    this.#socket = this.#held = null;
    if (!this.#wanted) return;
    this.status.value = this.store.known.peek() ? 'reconnecting' : 'connecting';
    // 1008: the session ended or the role was lost. A socket that never opened may have
    // been refused for the same reason, or by something on the way that knows no sockets.
    if (e.code === 1008 || !this.#opened) {
      this.mayConnect().then((may) => {
        if (may === 'no') {
          this.status.value = 'refused';
          clearTimeout(this.#timer);
        } else if (may === 'yes' && e.code !== 1008 && ++this.failures >= 2 && this.fallbacks.length > 0) {
          this.failures = 0;
          const load = this.fallbacks.shift();
          load().then((other) => { this.WebSocket = other; }, () => this.fallbacks.unshift(load));
        }
      });
    }
    const wait = e.code === 1001 ? this.random() * 5000 : backoff(this.#attempt++, this.random);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#open(), Math.max(minWait / 5, wait));
  }
}
