import test from 'node:test';
import assert from 'node:assert/strict';
import { bytes, duration, fieldTime, permText, utc, visible, when } from '../../../static/lib/format.js';
import { typeOf as model } from '../../../static/lib/model.js';
import { parseOrder, writeOrder } from '../../../static/lib/order.js';
import { table } from '../../../static/lib/export.js';

test('durations have two units and the letters of the text tables', () => {
  for (const [ms, text] of [[0, '0s'], [-5, '0s'], [999, '1s'], [41_000, '41s'], [112_000, '1m52s'], [60_000, '1m00s'], [3_600_000, '1h00m'], [12_000_000, '3h20m'], [86_400_000 * 3 + 7_200_000, '3d02h']]) assert.equal(duration(ms), text);
});

test('bytes, permissions, instants', () => {
  assert.deepEqual([0, 1023, 1024, 65_536, 3 << 20].map(bytes), ['0 B', '1023 B', '1.0 KiB', '64.0 KiB', '3.0 MiB']);
  assert.deepEqual([0, 2, 4, 6, 7].map(permText), ['---', '-W-', 'R--', 'RW-', 'RWX']);
  assert.equal(utc(0), '1970-01-01T00:00:00.000Z');
  assert.equal(utc(NaN), '');
  const now = new Date(2026, 4, 5, 12).getTime();
  assert.doesNotMatch(when(now - 1000, now), /2026/);
  assert.match(when(now - 86_400_000, now), /2026/);
});

test('a field for a moment speaks the zone of that day, and not of nonsense', (t) => {
  const zone = process.env.TZ;
  process.env.TZ = 'Europe/Berlin';
  t.after(() => { process.env.TZ = zone ?? ''; if (zone === undefined) delete process.env.TZ; });
  assert.equal(fieldTime('2026-07-01T12:00:00Z'), '2026-07-01T14:00:00');
  assert.equal(fieldTime('2026-12-01T12:00:00Z'), '2026-12-01T13:00:00');
  assert.deepEqual(['', 'yesterday'].map(fieldTime), ['', '']);
});

test('what hides or turns text around is made visible', () => {
  assert.equal(visible('a\u202eb\u0000c\u200bd\ufeff'), 'a\\u202eb\\u0000c\\u200bd\\ufeff');
  assert.equal(visible('名称 %RETRY%<b>'), '名称 %RETRY%<b>');
});

test('types of topics follow the server’s rules', () => {
  const peers = new Set(['DefaultCluster', 'broker-a']);
  const of = (n) => model(n, (x) => peers.has(x));
  for (const [name, type] of [['%RETRY%g', 'retry'], ['%DLQ%g', 'dlq'], ['%LMQ%g', 'lmq'], ['a_REPLY_TOPIC', 'reply'], ['TBW102', 'system'], ['rmq_sys_x', 'system'], ['broker-a', 'system'], ['DefaultCluster', 'system'], ['RETRY', 'normal'], ['broker-b', 'normal']]) assert.equal(of(name), type, name);
});

test('order configurations', () => {
  assert.deepEqual(parseOrder('broker-a:4;broker-b:8'), [{ broker: 'broker-a', queues: 4 }, { broker: 'broker-b', queues: 8 }]);
  assert.deepEqual(parseOrder(''), []);
  for (const bad of ['broker-a', 'a:b', 'a:4;', ':4', 'a:4,b:4']) assert.equal(parseOrder(bad), null, bad);
  assert.equal(writeOrder(parseOrder(' a:4 ; b:5 ')), 'a:4;b:5');
});

test('CSV is quoted, and no cell is a formula', () => {
  const columns = [{ id: 'topic', text: (r) => r.name }, { id: 'n', text: (r) => r.n }];
  assert.equal(table(columns, [{ name: 'a,b"c', n: 1 }, { name: '=cmd()', n: 2 }, { name: '+1\n', n: 3 }]), 'topic,n\r\n"a,b""c",1\r\n\'=cmd(),2\r\n"\'+1\n",3\r\n');
});
