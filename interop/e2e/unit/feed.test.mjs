import test from 'node:test';
import assert from 'node:assert/strict';
import { Feed, backoff } from '../../../static/lib/feed.js';
import { Store } from '../../../static/lib/store.js';

/** A websocket whose other end is the test. */
class Socket {
  static all = [];
  constructor(url, protocols) {
    Object.assign(this, { url, protocols, sent: [], readyState: 0 });
    Socket.all.push(this);
  }
  send(text) { this.sent.push(JSON.parse(text)); }
  close() { this.readyState = 3; }
  open() { this.readyState = 1; this.onopen(); }
  say(msg) { this.onmessage({ data: JSON.stringify(msg) }); }
  end(code = 1006) { this.readyState = 3; this.onclose({ code }); }
  static get last() { return Socket.all.at(-1); }
}

const hello = { op: 'hello', epoch: 'e', role: 'viewer', heartbeatMillis: 15_000, time: new Date().toISOString() };
const snapshot = { op: 'snapshot', id: 'all', revision: 'e.1', first: true, last: true };

function start(t, more = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  Socket.all = [];
  const store = new Store({ now: () => 0 });
  const feed = new Feed({ url: 'ws://x/ws', store, WebSocket: Socket, random: () => 1, ...more });
  feed.start();
  return { feed, store };
}

const live = () => {
  Socket.last.open();
  Socket.last.say(hello);
  Socket.last.say(snapshot);
};

test('it subscribes with a snapshot and is live when that is whole', (t) => {
  const { feed } = start(t);
  assert.deepEqual(Socket.last.protocols, ['namesrv.v1']);
  assert.equal(feed.status.value, 'connecting');
  Socket.last.open();
  assert.deepEqual(Socket.last.sent, [{ op: 'subscribe', id: 'all', snapshot: true }]);
  Socket.last.say(hello);
  assert.equal(feed.status.value, 'connecting');
  Socket.last.say(snapshot);
  assert.equal(feed.status.value, 'live');
  assert.equal(feed.hello.value.role, 'viewer');
});

test('it comes back with growing pauses, at once after the network returned', async (t) => {
  const { feed } = start(t);
  live();
  Socket.last.end();
  assert.equal(feed.status.value, 'reconnecting');
  for (const wait of [500, 1000, 2000, 4000, 8000, 15_000, 15_000]) {
    const before = Socket.all.length;
    t.mock.timers.tick(wait - 1);
    assert.equal(Socket.all.length, before, `too early at ${wait}`);
    t.mock.timers.tick(1);
    assert.equal(Socket.all.length, before + 1, `not there after ${wait}`);
    Socket.last.end();
    await Promise.resolve();
  }
  const before = Socket.all.length;
  feed.retry();
  assert.equal(Socket.all.length, before + 1);
  live();
  assert.equal(feed.status.value, 'live');
  Socket.last.end();
  t.mock.timers.tick(500);
  assert.equal(Socket.all.length, before + 2, 'a success begins the pauses anew');
});

test('pauses are scattered', () => {
  for (let n = 0; n < 12; n++) {
    for (const r of [0, 0.3, 1]) {
      const wait = backoff(n, () => r);
      assert.ok(wait >= 500 && wait <= 15_000, `${n} ${r}: ${wait}`);
    }
  }
  assert.notEqual(backoff(5, () => 0), backoff(5, () => 1));
});

test('a server that stops is given up to five seconds', (t) => {
  start(t, { random: () => 0.5 });
  live();
  const n = Socket.all.length;
  Socket.last.end(1001);
  t.mock.timers.tick(2499);
  assert.equal(Socket.all.length, n);
  t.mock.timers.tick(1);
  assert.equal(Socket.all.length, n + 1);
});

test('a socket that says nothing for too long is given up', (t) => {
  const { feed } = start(t);
  live();
  t.mock.timers.tick(37_000);
  assert.equal(feed.status.value, 'live');
  Socket.last.say({ op: 'bookmark', time: new Date().toISOString() });
  t.mock.timers.tick(37_000);
  assert.equal(feed.status.value, 'live');
  t.mock.timers.tick(1000);
  assert.equal(feed.status.value, 'reconnecting');
});

test('a refused session stops the trying', async (t) => {
  const { feed } = start(t, { mayConnect: async () => 'no' });
  live();
  Socket.last.end(1008);
  await Promise.resolve();
  await Promise.resolve();
  assert.equal(feed.status.value, 'refused');
  const n = Socket.all.length;
  t.mock.timers.tick(60_000);
  assert.equal(Socket.all.length, n);
});

test('a reset is answered by one new subscription', (t) => {
  start(t);
  live();
  for (let i = 0; i < 5; i++) Socket.last.say({ op: 'reset', reason: 'lagged' });
  t.mock.timers.tick(300);
  assert.equal(Socket.last.sent.length, 2);
});

test('words of an old socket are not heard', (t) => {
  const { feed, store } = start(t);
  live();
  const old = Socket.last;
  old.end();
  t.mock.timers.tick(500);
  live();
  old.say({ op: 'snapshot', revision: 'x.9', first: true, last: true });
  assert.equal(store.epoch, 'e');
  feed.stop();
});

test('only a server that answers, but opens no socket, is asked in another way', async (t) => {
  const other = class extends Socket {};
  const last = class extends Socket {};
  let answer = 'unreachable';
  const { feed } = start(t, { mayConnect: async () => answer, fallbacks: [async () => other, async () => last] });
  const settle = async () => { for (let i = 0; i < 5; i++) await Promise.resolve(); };
  for (let i = 0; i < 4; i++) {
    Socket.last.end();
    await settle();
    t.mock.timers.tick(15_000);
  }
  assert.ok(!(Socket.last instanceof other), 'a dead server is no reason');
  answer = 'yes';
  for (let i = 0; i < 2; i++) {
    Socket.last.end();
    await settle();
    t.mock.timers.tick(15_000);
  }
  assert.ok(Socket.last instanceof other);
  for (let i = 0; i < 5; i++) {
    Socket.last.end();
    await settle();
    t.mock.timers.tick(15_000);
  }
  assert.ok(Socket.last instanceof last, 'and there is no other way after the last');
  live();
  assert.equal(feed.status.value, 'live');
});

test('a socket that was opened before the modules were there is taken over', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  Socket.all = [];
  const store = new Store({ now: () => 0 });
  const feed = new Feed({ url: 'ws://x/ws', store, WebSocket: Socket, random: () => 1 });
  const socket = new Socket('ws://x/ws', ['namesrv.v1']);
  socket.readyState = 1;
  const begun = { socket, heard: [JSON.stringify(hello), JSON.stringify(snapshot)] };
  feed.adopt(begun);
  assert.equal(feed.status.value, 'live', 'what was heard counts');
  assert.equal(begun.late, true, 'no other is opened there');
  feed.start();
  assert.equal(Socket.all.length, 1);
  assert.deepEqual(socket.sent, [], 'it has subscribed already');
  socket.end();
  t.mock.timers.tick(500);
  assert.equal(Socket.all.length, 2, 'and it is followed like any other');
  feed.stop();
});

test('a socket that has not come to be, or has ended, is not taken over', (t) => {
  for (const begun of [undefined, { socket: null, heard: [] }, { socket: { readyState: 3 }, heard: [JSON.stringify(hello)] }]) {
    t.mock.timers.reset();
    const feed = new Feed({ url: 'ws://x/ws', store: new Store(), WebSocket: Socket });
    feed.adopt(begun);
    assert.equal(feed.hello.value, null);
  }
});

test('the outline is shown, then the rest is read, in order', (t) => {
  const { feed, store } = start(t);
  Socket.last.open();
  Socket.last.say(hello);
  const member = { clusterName: 'c', brokerName: 'b', brokerId: 0, brokerAddr: 'b:10911', lastUpdateTimestamp: 1, heartbeatTimeoutMillis: 2 };
  Socket.last.say({ op: 'snapshot', revision: 'e.1', first: true, members: [member], outline: { topics: 2000, brokers: [{ brokerName: 'b', topicCount: 2000, unwritable: 3 }] } });
  assert.equal(feed.status.value, 'live');
  assert.deepEqual([store.known.value, store.ready.value, store.topicCount, store.members.size], [true, false, 2000, 1]);
  Socket.last.say({ op: 'snapshot', revision: 'e.1', last: true, layouts: [[{ brokerName: 'b', readQueueNums: 1, writeQueueNums: 1, perm: 6, topicSysFlag: 0 }]], topics: [{ topic: 'T', layout: 0 }] });
  Socket.last.say({ op: 'bookmark', revision: 'e.1', time: new Date().toISOString(), heard: [{ brokerName: 'b', brokerId: 0, lastUpdateTimestamp: 7 }] });
  assert.equal(store.ready.value, false, 'the first view has its turn');
  t.mock.timers.tick(1);
  assert.deepEqual([store.ready.value, store.outline.value, store.topicCount, store.members.get('b/0').lastUpdateTimestamp], [true, null, 1, 7]);
  // Whoever has everything already waits for nothing.
  Socket.last.say({ op: 'snapshot', revision: 'e.2', first: true, members: [], outline: { topics: 1, brokers: [] } });
  assert.equal(store.members.size, 1, 'the old state stands until the new one is whole');
  Socket.last.say({ op: 'snapshot', revision: 'e.2', last: true });
  assert.equal(store.members.size, 0);
  feed.stop();
});

test('another way that could not be loaded is tried again', async (t) => {
  const other = class extends Socket {};
  let loads = 0;
  const load = async () => {
    if (++loads === 1) throw new Error('cut off');
    return other;
  };
  const { feed } = start(t, { mayConnect: async () => 'yes', fallbacks: [load] });
  for (let i = 0; i < 4; i++) {
    Socket.last.end();
    for (let j = 0; j < 8; j++) await Promise.resolve();
    t.mock.timers.tick(15_000);
  }
  assert.ok(Socket.last instanceof other);
  feed.stop();
});
