// What people must not be able to do: run something by the name of a topic, read or write
// from a page of another site, or reach the server under a name that is not its own.
import test from 'node:test';
import assert from 'node:assert/strict';
import http from 'node:http';
import { Broker } from './lib/broker.mjs';
import { Browser } from './lib/browser.mjs';
import { Server } from './lib/server.mjs';
import { visible } from '../../static/lib/format.js';

const names = ['<img src=x onerror=alert(1)>', '<script>alert(1)</script>', '"><svg onload=alert(1)>', "'; DROP TABLE topics; --", '\u202egnp.exe', 'مرحبا', '%RETRY%x', '%zz%', 'a/b/../c', '?q=1#x', '${7*7}{{7*7}}', 'x'.repeat(255), '名称', ' leading', '-rf', '=cmd()', '\u200bzero'];

test('names of any characters are text, and have an address', async (t) => {
  const server = await Server.start();
  t.after(() => server.stop());
  const b = new Broker(server.remoting, { cluster: '<b>cluster</b>', name: 'broker<i>', id: 0, addr: '10.0.0.1:10911', zone: '<u>zone</u>' });
  await b.serve(Object.fromEntries(names.map((n) => [n, {}]))).register();
  const twin = new Broker(server.remoting, { cluster: '<u>other</u>', name: 'broker<i>', id: 1, addr: '<i>10.0.0.2</i>:10911' });
  await twin.register();
  t.after(() => [b, twin].forEach((x) => x.stop()));
  const browser = await Browser.open();
  t.after(() => browser.close());
  const { page } = browser;
  page.on('dialog', (d) => browser.complaints.push('a dialog opened: ' + d.message()));
  await browser.show(server, '#/topics');
  const shown = await page.locator('main tbody th a').allInnerTexts();
  assert.deepEqual(shown.sort(), names.map(visible).map((n) => n.trim()).sort(), 'every name is shown as it is');
  for (const name of names) {
    await browser.show(server, '#/topics');
    await page.locator('main tbody th a').nth(0).waitFor();
    const link = page.locator('main tbody th a').filter({ has: page.locator('bdi') }).and(page.locator(`a[href="${hrefOf(name).replaceAll('"', '\\"')}"]`));
    await link.click();
    await page.waitForFunction((n) => document.querySelector('main h1')?.textContent === n, visible(name));
    await page.getByRole('cell', { name: 'broker<i>' }).first().waitFor();
  }
  for (const view of ['#/', '#/clusters', '#/brokers', '#/brokers/' + encodeURIComponent('broker<i>'), '#/conflicts', '#/events', '#/topics/' + encodeURIComponent(names[0]) + '?tab=clients']) {
    await browser.show(server, view);
    assert.equal(await page.evaluate(() => document.querySelectorAll('main img, main script, main svg[onload], main i:not(.left i, .skeleton i), main u').length), 0, view);
  }
  // A search for one of them, and the browser's own address bar.
  await page.keyboard.press('/');
  await page.locator('#search[role=combobox]').fill('<img');
  await page.getByRole('option', { name: names[0] }).click();
  await page.waitForFunction((n) => document.querySelector('main h1')?.textContent === n, names[0]);
  await page.goto(server.base + '/ui/' + hrefOf('%RETRY%x'));
  await page.waitForFunction(() => document.querySelector('main h1')?.textContent === '%RETRY%x');
  await browser.quiet('hostile names');
});

const hrefOf = (name) => '#/topics/' + encodeURIComponent(name);

/** What a page can do to the server from where it stands. */
const attack = (base) => (async () => {
  const tries = {};
  const attempt = async (what, f) => {
    try {
      tries[what] = await f();
    } catch {
      tries[what] = 'refused';
    }
  };
  await attempt('read', async () => (await (await fetch(base + '/api/v1/brokers')).text()).slice(0, 40));
  await attempt('read with cookies', async () => (await (await fetch(base + '/api/v1/brokers', { credentials: 'include' })).text()).slice(0, 40));
  for (const [what, o] of Object.entries({
    'plain post': { method: 'POST', mode: 'no-cors', credentials: 'include', headers: { 'Content-Type': 'text/plain' }, body: '{}' },
    'json put': { method: 'PUT', credentials: 'include', headers: { 'Content-Type': 'application/json' }, body: '{"value":"evil"}' },
    'text put': { method: 'PUT', credentials: 'include', headers: { 'Content-Type': 'text/plain' }, body: 'evil' },
    delete: { method: 'DELETE', credentials: 'include' },
  })) await attempt(what, async () => (await fetch(base + '/api/v1/kv/ns/key', o)).status);
  await attempt('form', async () => {
    const frame = document.createElement('iframe');
    frame.name = 'f';
    document.body.append(frame);
    const form = document.createElement('form');
    Object.assign(form, { action: base + '/api/v1/kv/ns/key', method: 'post', target: 'f', enctype: 'text/plain' });
    document.body.append(form);
    form.submit();
    await new Promise((r) => setTimeout(r, 500));
    return 'sent';
  });
  await attempt('websocket', () => new Promise((resolve, reject) => {
    const s = new WebSocket(base.replace('http', 'ws') + '/ws', ['namesrv.v1']);
    s.onmessage = (m) => resolve(m.data.slice(0, 40));
    s.onerror = reject;
  }));
  await attempt('frame', () => new Promise((resolve, reject) => {
    const frame = document.createElement('iframe');
    frame.onload = () => {
      try {
        resolve(frame.contentDocument ? 'mine' : 'not to be read');
      } catch {
        reject(new Error('not to be read'));
      }
    };
    frame.src = base + '/ui/';
    document.body.append(frame);
    setTimeout(reject, 3000);
  }));
  return tries;
})();

test('a page of another site can neither read nor write', async (t) => {
  const server = await Server.start();
  t.after(() => server.stop());
  const b = new Broker(server.remoting, { cluster: 'SecretCluster', name: 'b', id: 0, addr: '10.0.0.1:10911' });
  await b.serve({ T: {}, U: {} }).register();
  t.after(() => b.stop());
  const evil = http.createServer((_, res) => res.setHeader('Content-Type', 'text/html').end('<!doctype html><title>evil</title><body>'));
  await new Promise((r) => evil.listen(0, '127.0.0.1', r));
  t.after(() => evil.close());
  // evil.test is another name for this machine, as in a rebinding attack.
  const browser = await Browser.open({ args: ['--host-resolver-rules=MAP evil.test 127.0.0.1'] });
  t.after(() => browser.close());
  await browser.signIn(server); // the cookie of an admin is in this browser
  await server.call('PUT', 'kv/ns/key', { value: 'good' });

  await t.test('a foreign origin', async () => {
    for (const origin of [`http://127.0.0.1:${evil.address().port}`, `http://evil.test:${evil.address().port}`]) {
      await browser.page.goto(origin);
      const tries = await browser.page.evaluate(attack, server.base);
      for (const what of ['read', 'read with cookies', 'json put', 'text put', 'delete', 'websocket']) assert.equal(tries[what], 'refused', `${origin}: ${what}`);
      assert.notEqual(tries.frame, 'mine');
      assert.equal((await server.call('GET', 'kv/ns/key')).value, 'good', origin);
    }
  });

  await t.test('a name that was bound to this address', async () => {
    const base = `http://evil.test:${server.ports.httpPort}`;
    const page = await browser.context.newPage();
    const res = await page.goto(base + '/ui/');
    assert.equal(res.status(), 403);
    const tries = await page.evaluate(attack, base);
    for (const [what, outcome] of Object.entries(tries)) {
      if (what === 'form' || what === 'frame') continue;
      assert.ok(outcome === 'refused' || outcome === 403 || /host-not-allowed|"type"/.test(outcome), `${what}: ${outcome}`);
      assert.doesNotMatch(String(outcome), /SecretCluster|hello/);
    }
    assert.equal((await server.call('GET', 'kv/ns/key')).value, 'good');
  });
});
