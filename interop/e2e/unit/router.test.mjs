import test from 'node:test';
import assert from 'node:assert/strict';
import { format, parse } from '../../../static/lib/router.js';

test('any topic name is one segment of an address', () => {
  for (const name of ['Order', '%RETRY%g', 'a/b', 'a?b#c', '<script>alert(1)</script>', '\u202eabc', '名称', '.', '%', '%zz', ' ', 'x'.repeat(255)]) {
    assert.deepEqual(parse(format(['topics', name])).path, ['topics', name], name);
  }
});

test('filters come back as they went', () => {
  const query = { q: 're:^a&b=c', type: 'normal,retry', cluster: 'a b' };
  assert.deepEqual(parse(format(['topics'], query)), { path: ['topics'], query });
});

test('empty filters leave no trace', () => {
  assert.equal(format(['topics'], { q: '', type: undefined, sort: null }), '#/topics');
  assert.equal(format([]), '#/');
});

test('what people type is read kindly', () => {
  assert.deepEqual(parse(''), { path: [], query: {} });
  assert.deepEqual(parse('topics/%RETRY%g'), { path: ['topics', '%RETRY%g'], query: {} });
  assert.deepEqual(parse('#/a//b/?x=1'), { path: ['a', 'b'], query: { x: '1' } });
});
