import test from 'node:test';
import assert from 'node:assert/strict';

test('long lists may take their time: the feed hears that the server is there before they are read', async (t) => {
  globalThis.document = { baseURI: 'http://localhost/ui/', visibilityState: 'hidden', documentElement: { lang: 'en' } };
  t.after(() => { delete globalThis.document; });
  const asked = [];
  const json = (body) => new Response(JSON.stringify(body), { headers: { 'Content-Type': 'application/json' } });
  let release;
  t.mock.method(globalThis, 'fetch', async (url) => {
    asked.push(url.pathname);
    if (url.pathname.endsWith('/brokers')) return json({ revision: 'e.3', items: [] });
    if (url.pathname.endsWith('/routes')) await new Promise((resolve) => { release = resolve; });
    return url.pathname.endsWith('/routes') ? json({ items: [{ topic: 'T', route: { queueDatas: [] } }] }) : new Promise(() => {});
  });
  const { PollSocket } = await import('../../../static/lib/poll.js');
  const { firstDrawn } = await import('../../../static/lib/paint.js');
  firstDrawn();
  const said = [];
  const socket = new PollSocket();
  socket.onopen = () => socket.send();
  socket.onmessage = (e) => said.push(e.data.op);
  while (!release) await new Promise((r) => setTimeout(r));
  assert.deepEqual(said, ['hello']);
  release();
  while (said.length < 2) await new Promise((r) => setTimeout(r));
  assert.deepEqual(said, ['hello', 'snapshot']);
  while (asked.length < 3) await new Promise((r) => setTimeout(r));
  assert.match(asked[2], /digest$/, 'that is the snapshot that was asked for');
  socket.close();
});
