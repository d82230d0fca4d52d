import test from 'node:test';
import assert from 'node:assert/strict';
import { describe, fields } from '../../../static/lib/describe.js';
import { address, example, operations, typeOf } from '../../../static/lib/openapi.js';
import { curl, path } from '../../../static/lib/api.js';

test('the most telling change names a set', () => {
  const d = describe({ counts: { topic: 124, member: 1 }, changes: [{ kind: 'topic', op: 'deleted', topic: 'T' }, { kind: 'member', op: 'expired', brokerName: 'a', brokerId: 0 }] });
  assert.equal(d.key, 'change.member.expired');
  assert.equal(d.name, 'a/0');
  assert.deepEqual(d.path, ['brokers', 'a']);
  assert.equal(d.more, 124);
  assert.equal(describe({ counts: {}, changes: [] }).path, null);
});

test('fields stand side by side', () => {
  assert.deepEqual(fields({ before: { perm: 6, a: 'x' }, after: { perm: 4, v: { n: 1 } } }), [{ field: 'a', before: 'x', after: null }, { field: 'perm', before: '6', after: '4' }, { field: 'v.n', before: null, after: '1' }]);
  assert.deepEqual(fields({ before: { dataVersion: { counter: 3, timestamp: 1 } }, after: { dataVersion: { counter: 4, timestamp: 1 } } }), [{ field: 'dataVersion.counter', before: '3', after: '4' }]);
  assert.deepEqual(fields({}), []);
});

const spec = {
  paths: { '/api/v1/topics/{topic}': { get: { tags: ['topics'], parameters: [{ name: 'topic', in: 'path' }, { $ref: '#/components/parameters/zone' }] }, put: { tags: ['topics'], requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/T' } } } } } } },
  components: { parameters: { zone: { name: 'zone', in: 'query', schema: { type: 'string' } } }, schemas: { T: { type: 'object', properties: { n: { type: 'integer', minimum: 0, example: 8 }, list: { type: 'array', items: { enum: ['a', 'b'] } }, self: { $ref: '#/components/schemas/T' } } } } },
};

test('a description is read', () => {
  const [[tag, [get, put]]] = operations(spec);
  assert.equal(tag, 'topics');
  assert.deepEqual(get.parameters.map((p) => p.name), ['topic', 'zone']);
  assert.equal(address(get, { topic: '%RETRY%g', zone: 'a b' }), 'api/v1/topics/%25RETRY%25g?zone=a+b');
  assert.equal(address(get, {}), 'api/v1/topics/{topic}');
  const e = example(spec, put.body.schema);
  assert.equal(e.n, 8);
  assert.deepEqual(e.list, ['a']);
  assert.equal(typeOf(spec, spec.components.schemas.T.properties.n), 'integer ≥ 0');
  assert.equal(typeOf(spec, spec.components.schemas.T.properties.list), 'a | b[]');
});

test('command lines survive any name', () => {
  assert.equal(curl('GET', path('topics', '%RETRY%g')), 'curl http://localhost/api/v1/topics/%25RETRY%25g');
  assert.equal(curl('GET', path('topics', "it's")), `curl 'http://localhost/api/v1/topics/it'\\''s'`);
  assert.equal(curl('PUT', 'kv/a/b', 'x y'), "curl -K ~/.fingerpost.curlrc -X PUT -H 'Content-Type: text/plain' --data-binary 'x y' http://localhost/api/v1/kv/a/b");
});
