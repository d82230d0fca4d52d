import test from 'node:test';
import assert from 'node:assert/strict';
import { Store } from '../../../static/lib/store.js';
import { groups, problems, stateOf, topicCounts } from '../../../static/lib/model.js';
import { find } from '../../../static/lib/find.js';

const member = (brokerName, brokerId, more = {}) => ({ brokerName, brokerId, clusterName: 'c', brokerAddr: `${brokerName}-${brokerId}:10911`, role: brokerId ? 'slave' : 'master', heartbeatTimeoutMillis: 120_000, lastUpdateTimestamp: 1_000_000, source: 'remoting', ...more });
const queue = (brokerName, perm = 6, n = 8) => ({ brokerName, readQueueNums: n, writeQueueNums: n, perm, topicSysFlag: 0 });
const set = (revision, changes, more = {}) => ({ revision: 'e.' + revision, time: new Date(1_000_000).toISOString(), cause: { face: 'rest', action: 'x', actor: 'me' }, counts: { [changes[0].kind]: changes.length }, truncated: false, changes, ...more });
const topicChange = (op, topic, brokerName, before, after) => ({ kind: 'topic', op, topic, brokerName, before, after });

function filled() {
  const s = new Store();
  s.take({ op: 'snapshot', revision: 'e.5', first: true, members: [member('a', 0), member('a', 1)], layouts: [[queue('a')]] });
  s.take({ op: 'snapshot', revision: 'e.5', last: true, layouts: [[queue('a'), queue('b')]], topics: [{ topic: 'T', layout: 0, updatedAt: '2026-01-01T00:00:00.000Z' }, { topic: 'U', layout: 1, messageType: 'FIFO' }] });
  s.flush();
  return s;
}

test('a snapshot counts only when its last part is there', () => {
  const s = new Store();
  s.take({ op: 'snapshot', revision: 'e.5', first: true, members: [member('a', 0)] });
  s.flush();
  assert.equal(s.ready.value, false);
  assert.equal(s.members.size, 0);
  s.take({ op: 'snapshot', revision: 'e.5', last: true });
  s.flush();
  assert.equal(s.ready.value, true);
  assert.equal(s.members.size, 1);
});

test('layouts are numbered over all parts', () => {
  const s = filled();
  assert.deepEqual(s.dump(), ['member c a 0 a-0:10911', 'member c a 1 a-1:10911', 'queue T a 8 8 6 0', 'queue U a 8 8 6 0', 'queue U b 8 8 6 0']);
  assert.equal(s.topics.get('U').messageType, 'FIFO');
  assert.equal(s.topics.get('T').updatedAt, Date.parse('2026-01-01'));
  assert.equal(s.revisionText.value, 'e.5');
});

test('changes hold only what differs and are put on top', () => {
  const s = filled();
  s.take({ op: 'changes', items: [
    set(6, [topicChange('changed', 'T', 'a', { perm: 6 }, { perm: 4 }), topicChange('created', 'N', 'a', undefined, queue('a', 6, 4))]),
    set(7, [topicChange('deleted', 'U', 'b', queue('b'))]),
  ] });
  assert.equal(s.topics.get('T').permText, 'R--');
  assert.equal(s.topics.get('T').readQueues, 8);
  assert.equal(s.topics.get('N').writeQueues, 4);
  assert.equal(s.topics.get('U').queues.length, 1);
  s.take({ op: 'changes', items: [set(8, [topicChange('deleted', 'U', 'a', queue('a'))])] });
  assert.equal(s.topics.has('U'), false);
  assert.equal(s.revision, 8);
});

test('what the snapshot holds already is not done twice', () => {
  const s = filled();
  s.take({ op: 'changes', items: [set(5, [topicChange('deleted', 'T', 'a', queue('a'))])] });
  assert.ok(s.topics.has('T'));
});

test('a refusal is news and changes nothing', () => {
  const s = filled();
  s.take({ op: 'changes', items: [set(5, [{ kind: 'member', op: 'rejected', brokerName: 'z', brokerId: 0, after: { brokerAddr: 'x' }, code: 'single-topic', detail: 'no' }])] });
  assert.equal(s.members.size, 2);
  assert.equal(s.events.length, 1);
});

test('groups are whole in the message and replace what was pieced together', () => {
  const s = filled();
  s.take({ op: 'changes', items: [set(6, [{ kind: 'member', op: 'disconnected', cluster: 'c', brokerName: 'a', brokerId: 0, before: {} }])], groups: [{ brokerName: 'a', members: [member('a', 1, { role: 'actingMaster' })] }] });
  assert.equal(s.members.size, 1);
  assert.equal(s.members.get('a/1').role, 'actingMaster');
  s.take({ op: 'changes', items: [set(7, [{ kind: 'member', op: 'created', cluster: 'd', brokerName: 'b', brokerId: 0, after: { brokerAddr: 'b:1', clusterName: 'd' } }])], groups: [{ brokerName: 'b', members: [member('b', 0, { clusterName: 'd' })] }] });
  s.flush();
  assert.equal(s.clusterOf.get('b'), 'd');
});

test('wipes come and go', () => {
  const s = filled();
  s.take({ op: 'changes', items: [set(6, [{ kind: 'writePerm', op: 'wiped', brokerName: 'a', topicCount: 2 }])] });
  assert.equal(s.wipes.get('a').actor, 'me');
  assert.equal(s.wipes.get('a').topicCount, 2);
  s.take({ op: 'changes', items: [set(7, [{ kind: 'writePerm', op: 'restored', brokerName: 'a', topicCount: 2 }])] });
  assert.equal(s.wipes.size, 0);
});

test('a truncated set, a reset and a rule that colours everything ask for a snapshot', () => {
  const s = filled();
  const why = [];
  s.onResync = (r) => why.push(r);
  s.take({ op: 'changes', items: [set(6, [topicChange('changed', 'T', 'a', {}, { perm: 4 })], { truncated: true })] });
  s.take({ op: 'reset', reason: 'lagged' });
  s.take({ op: 'changes', items: [set(7, [{ kind: 'config', op: 'changed', key: 'supportActingMaster', before: { value: 'false' }, after: { value: 'true' } }])] });
  assert.deepEqual(why, ['truncated', 'lagged', 'rules']);
  assert.ok(s.events.some((e) => e.gap));
});

test('a restart replaces everything at once', () => {
  const s = filled();
  s.take({ op: 'snapshot', revision: 'f.1', first: true, members: [member('z', 0)] });
  assert.ok(s.topics.has('T'), 'the old state stands until the new one is whole');
  s.take({ op: 'snapshot', revision: 'f.1', last: true });
  s.flush();
  assert.deepEqual(s.dump(), ['member c z 0 z-0:10911']);
  s.take({ op: 'changes', items: [{ ...set(2, [topicChange('created', 'N', 'z', undefined, queue('z'))]), revision: 'f.2' }] });
  assert.ok(s.topics.has('N'));
});

test('bookmarks renew what was heard of', () => {
  const s = filled();
  s.take({ op: 'bookmark', time: new Date(2_000_000).toISOString(), heard: [{ brokerName: 'a', brokerId: 1, lastUpdateTimestamp: 1_900_000 }, { brokerName: 'gone', brokerId: 0, lastUpdateTimestamp: 1 }] });
  assert.equal(s.members.get('a/1').lastUpdateTimestamp, 1_900_000);
  assert.equal(s.members.size, 2);
});

test('a thousand changes a second are four paints', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  const s = new Store({ now: () => now });
  s.take({ op: 'snapshot', revision: 'e.0', first: true, last: true, layouts: [[queue('a')]], topics: [{ topic: 'T', layout: 0 }] });
  t.mock.timers.tick(0);
  let paints = 0;
  s.topicsMoved.subscribe(() => paints++);
  paints = 0;
  for (let i = 1; i <= 1000; i++) {
    s.take({ op: 'changes', items: [set(i, [topicChange('changed', 'T', 'a', {}, { perm: i % 2 ? 4 : 6 })])] });
    now += 1;
    t.mock.timers.tick(1);
  }
  assert.ok(paints <= 5, `${paints} paints`);
  assert.equal(s.revision, 1000);
  now += 250;
  t.mock.timers.tick(250);
  assert.equal(s.revisionText.value, 'e.1000');
});

test('memory stays bounded whatever happens', () => {
  const s = filled();
  for (let i = 6; i < 6000; i++) s.take({ op: 'changes', items: [set(i, [topicChange('changed', 'T', 'a', {}, { perm: i % 2 ? 4 : 6 })])] });
  assert.ok(s.events.length <= 1200);
  assert.ok(s.marks.size <= 400);
});

test('while paused nothing moves, afterwards everything does', () => {
  const s = filled();
  s.pause(1234);
  s.take({ op: 'changes', items: [set(6, [topicChange('deleted', 'T', 'a', queue('a'))])] });
  s.flush();
  assert.ok(s.topics.has('T'));
  assert.deepEqual(s.paused.value, { since: 1234, count: 1 });
  s.resume();
  assert.ok(!s.topics.has('T'));
  assert.equal(s.paused.value, null);
  let asked = 0;
  s.onResync = () => asked++;
  s.pause(1);
  for (let i = 7; i < 3000; i++) s.take({ op: 'changes', items: [set(i, [topicChange('created', 'X' + i, 'a', undefined, queue('a'))])] });
  s.resume();
  assert.equal(asked, 1, 'what did not fit is read anew');
});

test('events are told once, also when an old batch comes again after a snapshot', () => {
  const s = filled();
  s.take({ op: 'changes', items: [set(6, [topicChange('changed', 'T', 'a', {}, { perm: 4 })])] });
  s.take({ op: 'snapshot', revision: 'e.5', first: true, last: true, layouts: [[queue('a')]], topics: [{ topic: 'T', layout: 0 }] });
  s.take({ op: 'changes', items: [set(6, [topicChange('changed', 'T', 'a', {}, { perm: 4 })])] });
  assert.equal(s.events.length, 1);
  assert.equal(s.topics.get('T').permText, 'R--');
  s.addPast([set(6, [topicChange('changed', 'T', 'a', {}, { perm: 4 })]), set(4, [topicChange('created', 'T', 'a', undefined, queue('a'))])]);
  assert.deepEqual(s.events.map((e) => e.revision), ['e.4', 'e.6']);
});

test('problems are named, worst first', () => {
  const s = filled();
  s.take({ op: 'changes', items: [
    set(6, [{ kind: 'member', op: 'expired', cluster: 'c', brokerName: 'a', brokerId: 0, before: {} }, topicChange('changed', 'T', 'a', { perm: 6 }, { perm: 4 })]),
    set(7, [{ kind: 'member', op: 'expired', cluster: 'c', brokerName: 'lost', brokerId: 0, before: {} }]),
    set(8, [{ kind: 'writePerm', op: 'wiped', brokerName: 'a', topicCount: 2 }]),
    set(8, [{ kind: 'member', op: 'rejected', brokerName: 'z', brokerId: 0, code: 'single-topic', detail: 'why' }]),
  ] });
  s.flush();
  const gs = groups(s, topicCounts(s));
  const list = problems({ store: s, groups: gs, now: 1_000_000 + 70_000, stale: 3, checks: [{ name: 'kv-persist', ok: false, detail: 'disk full' }, { name: 'x', ok: true }] });
  assert.deepEqual(list.map((p) => p.id), ['no-master/a', 'gone/lost', 'check/kv-persist', 'wiped/a', 'late/a', 'refused/z/0', 'stale']);
  assert.equal(list[0].key, 'problem.noMasterSince');
  assert.equal(list[0].topics, 1);
  assert.deepEqual(problems({ store: new Store(), groups: [], now: 0, open: true }).map((p) => p.id), ['open']);
  const between = (kind, brokerName, active = true) => ({ kind, brokerName, brokerId: 0, brokerAddr: 'X', against: 'Y', active, count: 3 });
  const all = problems({ store: s, groups: gs, now: 1_000_000 + 70_000, conflicts: [between('registration-refused', 'z'), between('place-contested', 'p'), between('place-contested', 'over', false), between('removal-refused', 'r')] });
  assert.deepEqual(all.filter((p) => p.path[0] === 'conflicts').map((p) => [p.key, p.level, p.query.q]), [['problem.place-contested', 'bad', 'p'], ['problem.refused', 'warn', 'z'], ['problem.removal-refused', 'info', 'r']], 'each once, those that go on, with the way to their explanation');
  const since = '2025-11-29T06:51:02.113Z';
  const peers = [{ peer: 'a:1', state: 'reachable', differences: 0, since }, { peer: 'b:1', state: 'unreachable', differences: 3, since }, { peer: 'c:1', state: 'reachable', differences: 2, since }];
  const told = problems({ store: new Store(), groups: [], now: 0, peers, checks: [{ name: 'peers-agree', ok: false }] });
  assert.deepEqual(told.map((p) => [p.id, p.key, p.path]), [
    ['peer/c:1', 'problem.peerDiffers', ['peers', 'c:1']], ['peer/b:1', 'problem.peerAway', ['peers', 'b:1']]]);
});

test('states follow the share of time that is over', () => {
  const m = member('a', 0);
  assert.deepEqual([1_000_000, 1_060_000, 1_060_001, 1_120_000, 1_120_001].map((now) => stateOf(m, now)), ['live', 'live', 'late', 'late', 'expired']);
});

test('finding puts whole names first', () => {
  const s = filled();
  s.take({ op: 'changes', items: [set(6, [topicChange('created', 'TU', 'a', undefined, queue('a')), topicChange('created', '%RETRY%T', 'a', undefined, queue('a'))])] });
  assert.deepEqual(find(s, 't', 10).map((f) => f.name), ['T', 'TU', '%RETRY%T']);
  assert.deepEqual(find(s, 'a', 1), [{ kind: 'broker', name: 'a', rank: 0 }]);
});

test('a mark fades ten seconds after its change, though nothing else moves', () => {
  const s = filled();
  s.take({ op: 'changes', items: [set(6, [topicChange('changed', 'T', 'a', { perm: 6 }, { perm: 4 })])] });
  s.flush();
  const moved = () => [s.topicsMoved.value, s.membersMoved.value];
  const [topics, members] = moved();
  s.take({ op: 'bookmark', time: new Date(1_005_000).toISOString() });
  s.flush();
  assert.deepEqual([s.marks.size, ...moved()], [1, topics, members]);
  s.take({ op: 'bookmark', time: new Date(1_015_000).toISOString(), heard: [{ brokerName: 'a', brokerId: 0, lastUpdateTimestamp: 1_014_000 }] });
  s.flush();
  assert.deepEqual([s.marks.size, ...moved()], [0, topics + 1, members + 1]);
});

test('what a new snapshot jumps over is a gap among the events', () => {
  const s = filled();
  const gaps = () => s.events.filter((e) => e.gap).length;
  assert.equal(gaps(), 0, 'what was before the page is none');
  s.take({ op: 'snapshot', revision: 'e.5', first: true, last: true });
  assert.equal(gaps(), 0, 'nothing happened meanwhile');
  s.take({ op: 'snapshot', revision: 'e.9', first: true, last: true });
  assert.equal(gaps(), 1);
  s.take({ op: 'changes', items: [set(10, [topicChange('created', 'N', 'a', undefined, queue('a'))])] });
  s.take({ op: 'snapshot', revision: 'f.2', first: true, last: true });
  assert.equal(gaps(), 2, 'another process');
  s.take({ op: 'changes', items: [{ ...set(3, [topicChange('created', 'N', 'a', undefined, queue('a'))]), revision: 'f.3' }] });
  s.take({ op: 'reset', reason: 'lagged' });
  s.take({ op: 'snapshot', revision: 'f.7', first: true, last: true });
  assert.equal(gaps(), 3, 'a reset has told of it');
});
