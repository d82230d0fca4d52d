import test from 'node:test';
import assert from 'node:assert/strict';
import { matcher } from '../../../static/lib/find.js';
import { hold } from '../../../static/lib/hold.js';
import { sortRows } from '../../../static/lib/sort.js';
import { reveal, slotsOf, windowOf } from '../../../static/lib/window.js';

test('a window holds every row in sight and little more', () => {
  for (let top = 0; top < 20_000 * 36; top += 4099) {
    const w = windowOf({ top, height: 700, row: 36, count: 20_000 });
    assert.ok(w.first * 36 <= top && w.last * 36 >= Math.min(top + 700, 20_000 * 36), `at ${top}`);
    assert.ok(w.last - w.first <= 32);
    assert.ok(w.last - w.first <= slotsOf({ height: 700, row: 36 }), 'a slot for each row');
    assert.equal(w.before + (w.last - w.first) * 36 + w.after, 20_000 * 36);
  }
  assert.deepEqual(windowOf({ top: 0, height: 700, row: 36, count: 0 }), { first: 0, last: 0, before: 0, after: 0 });
  // The list has shrunk under what was scrolled.
  const w = windowOf({ top: 9000, height: 700, row: 36, count: 5 });
  assert.ok(w.last === 5 && w.first <= 5);
});

test('a row is brought into sight below the head', () => {
  assert.equal(reveal({ top: 0, height: 400, row: 40, head: 40, index: 3 }), 0);
  assert.equal(reveal({ top: 0, height: 400, row: 40, head: 40, index: 9 }), 40);
  assert.equal(reveal({ top: 400, height: 400, row: 40, head: 40, index: 2 }), 80);
});

test('sorting keeps equal rows in their order, both ways', () => {
  const rows = [{ a: 2, b: 1 }, { a: 1, b: 2 }, { a: 2, b: 3 }, { a: 1, b: 4 }];
  assert.deepEqual(sortRows(rows, (r) => r.a).map((r) => r.b), [2, 4, 1, 3]);
  assert.deepEqual(sortRows(rows, (r) => r.a, true).map((r) => r.b), [1, 3, 2, 4]);
  assert.equal(sortRows(rows, undefined), rows);
});

test('a held order keeps places, marks what is gone, counts what came', () => {
  const key = (r) => r.k;
  const { list, news } = hold([{ row: { k: 'b', v: 1 } }, { row: { k: 'a', v: 1 } }], [{ k: 'a', v: 2 }, { k: 'c', v: 1 }], key);
  assert.deepEqual(list, [{ row: { k: 'b', v: 1 }, gone: true }, { row: { k: 'a', v: 2 } }]);
  assert.equal(news, 1);
});

test('filters are substrings, or expressions after re:', () => {
  assert.ok(matcher('ORDER').test('my-order-1'));
  assert.ok(!matcher('.*').test('abc'));
  assert.ok(matcher('re:^a.c$').test('ABC'));
  const bad = matcher('re:(');
  assert.ok(bad.error && !bad.test('('));
  assert.ok(matcher('').test('anything'));
});
