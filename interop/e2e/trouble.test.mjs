// What goes wrong while a page is open: answers that fail or come late, others who are
// faster, hands that are faster. Nothing that was typed or told may be lost over it.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Browser } from './lib/browser.mjs';
import { Broker } from './lib/broker.mjs';
import { Server } from './lib/server.mjs';
import { until } from './lib/wait.mjs';

test('trouble while a page is open', async (t) => {
  let server = await Server.start();
  t.after(() => server.stop());
  let b = new Broker(server.remoting, { cluster: 'C', name: 'broker-a', id: 0, addr: '10.0.0.1:10911' }).serve({ Keep: {}, Old: {}, Older: {}, Oldest: {} });
  await b.register();
  b.live();
  t.after(() => b.stop());
  const browser = await Browser.open();
  t.after(() => browser.close());
  const { page } = browser;
  await browser.signIn(server);
  const text = page.getByLabel(/^Value/);
  const say = (...args) => page.evaluate(async (words) => {
    const { $ } = await import(document.querySelector('script[type=module]').src);
    $['lib/live.js'].say(...words);
  }, args);

  await t.test('a check of the server that fails while the overview is open', async () => {
    await page.route('**/healthz?verbose', (r) => r.fulfill({ status: 200, json: { status: 'ok', checks: [{ name: 'disk', ok: true }] } }));
    await browser.show(server, '#/');
    await page.locator('#soonest').waitFor();
    await page.waitForTimeout(500);
    await page.unroute('**/healthz?verbose');
    await page.route('**/healthz?verbose', (r) => r.fulfill({ status: 503, json: { status: 'failing', checks: [{ name: 'disk', ok: false, detail: 'it is full' }] } }));
    await page.locator('.problem', { hasText: 'it is full' }).waitFor();
    await page.unroute('**/healthz?verbose');
    await page.locator('.problem', { hasText: 'it is full' }).waitFor({ state: 'detached' });
  });

  await t.test('what stays until it is closed is not taken away by what is only said aloud', async () => {
    await say('not on one peer', false, true);
    await page.locator('.toast', { hasText: 'not on one peer' }).waitFor();
    await say('1 thing needs a look', true);
    await page.waitForTimeout(4500);
    await page.locator('.toast button').click({ timeout: 1000 });
    await page.locator('.toast').waitFor({ state: 'detached' });
    await say('short news');
    await page.locator('.toast', { hasText: 'short news' }).waitFor();
    await say('aloud', true);
    await page.locator('.toast').waitFor({ state: 'detached', timeout: 6000 });
  });

  await t.test('the title counts what the page counts', async () => {
    await page.evaluate(async () => {
      const { $ } = await import(document.querySelector('script[type=module]').src);
      const { store } = $['lib/live.js'];
      const m = [...store.members.values()][0];
      store.take({ op: 'changes', items: [], groups: [{ brokerName: m.brokerName, members: [{ ...m, unconfirmed: true }] }] });
    });
    await page.locator('.problem.info', { hasText: 'restart' }).waitFor();
    const needs = /(\d+) thing/.exec(await page.locator('.answer').innerText())?.[1];
    assert.equal(/^\((\d+)\)/.exec(await page.title())?.[1], needs);
  });

  await t.test('a new key that is there already can be overwritten', async () => {
    await server.call('PUT', 'kv/NS/taken', { value: 'theirs' });
    await browser.show(server, '#/kv/NS?add=key');
    await page.getByLabel('Key', { exact: true }).fill('taken');
    await text.fill('mine');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('#keep-mine').click();
    await until('my value', async () => (await server.call('GET', 'kv/NS/taken')).value === 'mine', 5000);
    await page.waitForFunction(() => location.hash === '#/kv/NS/taken');
  });

  await t.test('what is typed into a key outlives a read that fails', async () => {
    await server.call('PUT', 'kv/NS/other', { value: '1' });
    await browser.show(server, '#/kv/NS/taken');
    await text.fill('half a sentence');
    let failed;
    const failing = new Promise((resolve) => { failed = resolve; });
    await page.route('**/api/v1/kv/NS/taken', (r) => {
      failed();
      return r.abort();
    });
    await server.call('PUT', 'kv/NS/other', { value: '2' });
    await failing;
    await page.waitForTimeout(500);
    assert.equal(await text.inputValue({ timeout: 1000 }), 'half a sentence');
    await page.unroute('**/api/v1/kv/NS/taken');
  });

  await t.test('what is typed into a key outlives the key', async () => {
    await browser.show(server, '#/kv/NS/taken');
    await text.fill('half a sentence');
    await server.call('DELETE', 'kv/NS/taken');
    await page.getByRole('button', { name: 'Compare' }).click({ timeout: 5000 });
    await page.getByText('The key has been removed').waitFor();
    assert.equal(await text.inputValue({ timeout: 1000 }), 'half a sentence');
    await page.getByRole('button', { name: 'Take theirs' }).click();
    await page.waitForFunction(() => location.hash === '#/kv/NS');
    await browser.show(server, '#/kv/NS/taken');
    await page.getByText('This key is not set').waitFor();
  });

  await t.test('a setting that was checked is applied only if nothing has moved since', async () => {
    await browser.show(server, '#/config?q=scanNotActive');
    await page.getByRole('button', { name: 'Change scanNotActiveBrokerInterval' }).click();
    const dialog = page.locator('dialog');
    await dialog.getByLabel(/^Value/).fill('4000');
    await dialog.getByRole('button', { name: 'Check' }).click();
    await dialog.getByText('takes effect at once').waitFor();
    const reread = page.waitForResponse((r) => r.url().endsWith('/api/v1/config') && r.request().method() === 'GET');
    await server.call('PATCH', 'config', { scanNotActiveBrokerInterval: '6000' }, { 'Content-Type': 'application/merge-patch+json' });
    await reread;
    await page.waitForTimeout(500);
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await dialog.getByText('The settings have changed meanwhile').waitFor({ timeout: 5000 });
    assert.equal((await server.call('GET', 'config')).items.find((i) => i.key === 'scanNotActiveBrokerInterval').value, '6000');
    await dialog.getByRole('button', { name: 'Check' }).click();
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await until('my value', async () => (await server.call('GET', 'config')).items.find((i) => i.key === 'scanNotActiveBrokerInterval').value === '4000', 5000);
  });

  await t.test('leftovers of which one cannot be removed at first', async () => {
    await page.route('**/api/v1/stale-topics?*', async (r) => {
      const names = (await server.call('GET', 'topics?limit=1000')).items.map((x) => x.topic).filter((n) => n.startsWith('Old'));
      const items = names.map((topic) => ({ topic, brokerName: 'broker-a', reason: 'not-in-last-registration', sinceAt: new Date(Date.now() - 100_000).toISOString(), removable: true, lastSaid: {} }));
      await r.fulfill({ json: { revision: 'x.1', total: items.length, items } });
    });
    await browser.show(server, '#/stale');
    await page.getByRole('button', { name: 'Choose the 3 removable' }).click();
    await page.locator('#stale-check').click();
    const dialog = page.locator('dialog');
    await dialog.getByRole('button', { name: 'Ask' }).click();
    let seen = 0;
    await page.route('**/api/v1/topics/*/brokers/broker-a', async (r) => {
      await new Promise((resolve) => { setTimeout(resolve, 200); });
      if (++seen === 2) await r.fulfill({ status: 503, contentType: 'application/problem+json', json: { title: 'Busy', detail: 'try again' } });
      else await r.continue();
    });
    // Pressed twice, it is done once.
    await dialog.getByRole('button', { name: 'Remove 3' }).dblclick();
    await dialog.getByText('try again').waitFor();
    assert.equal(seen, 2, 'one after the other');
    await dialog.getByRole('button', { name: 'Remove 2' }).click({ timeout: 5000 });
    await page.getByText('No leftovers').waitFor();
    for (const name of ['Old', 'Older', 'Oldest']) await assert.rejects(server.call('GET', 'topics/' + name), /404/);
    await page.unroute('**/api/v1/topics/*/brokers/broker-a');
    await page.unroute('**/api/v1/stale-topics?*');
  });

  await t.test('older changes, asked for by an impatient hand, and again when they did not come', async () => {
    for (let i = 0; i < 230; i++) assert.equal((await b.declare('Often', { write: 1 + i % 7 })).code, 0);
    await page.goto('about:blank');
    await browser.show(server, '#/events?topic=Often');
    const shown = () => page.locator('article.event').count();
    const older = page.getByRole('button', { name: 'Older changes' });
    await until('the first page', async () => await shown() === 100);
    let asked = 0;
    await page.route('**/api/v1/events?*after=*', async (r) => {
      if (++asked === 1) return r.abort();
      await new Promise((resolve) => { setTimeout(resolve, 300); });
      return r.continue();
    });
    await older.click();
    await page.locator('main .problem.bad', { hasText: /cannot be reached/i }).waitFor({ timeout: 5000 });
    await older.dblclick();
    await until('the second page', async () => await shown() > 100);
    await page.waitForTimeout(1000);
    assert.equal(await shown(), 200);
    const revisions = await page.locator('article.event > header > span.mono').allInnerTexts();
    assert.equal(new Set(revisions).size, revisions.length, 'nothing is listed twice');
    await page.unroute('**/api/v1/events?*after=*');
  });

  await t.test('what came while the page was open can all be seen', async () => {
    await browser.show(server, '#/events?topic=Seen');
    await page.getByText('Nothing has happened').waitFor();
    for (let i = 0; i < 260; i++) assert.equal((await b.declare('Seen', { write: 1 + i % 7 })).code, 0);
    const older = page.getByRole('button', { name: 'Older changes' });
    await older.click({ timeout: 10_000 });
    await until('all of them', async () => await page.locator('article.event').count() >= 260, 5000);
    assert.equal(await older.count(), 0);
  });

  await t.test('two filters of names, typed fast', async () => {
    await browser.show(server, '#/events');
    await page.evaluate(() => {
      for (const [label, word] of [['Topic', 'Se'], ['Broker', 'broker-a']]) {
        const box = document.querySelector(`main input[aria-label=${label}]`);
        box.value = word;
        box.dispatchEvent(new Event('input', { bubbles: true }));
      }
    });
    await page.waitForFunction(() => location.hash.includes('broker=broker-a'));
    assert.equal(await page.locator('main input[aria-label=Topic]').inputValue(), 'Se');
    assert.match(page.url(), /topic=Se/);
  });

  await t.test('the Enter that ends a word in another script chooses nothing', async () => {
    await browser.show(server, '#/topics');
    await page.locator('#search').click();
    await page.locator('#search[role=combobox]').waitFor();
    await page.keyboard.type('Keep');
    await page.getByRole('option').first().waitFor();
    await page.evaluate(() => document.getElementById('search').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true })));
    await page.waitForTimeout(200);
    assert.match(page.url(), /#\/topics$/);
    assert.equal(await page.locator('#search').inputValue(), 'Keep');
    await page.keyboard.press('Escape');
  });

  await t.test('after a restart the page tells of the process that runs', async () => {
    await page.goto('about:blank');
    await page.route('**/api/v1/version', async (r) => r.fulfill({ json: { ...await server.call('GET', 'version'), startedAt: new Date(Date.now() - 3 * 86_400_000 - 60_000).toISOString() } }));
    await browser.show(server, '#/');
    await page.locator('[aria-labelledby=facts]').getByText(/^3d00h/).waitFor();
    await page.unroute('**/api/v1/version');
    const { epoch } = await server.call('GET', 'version');
    await server.stop({ keep: true });
    b.stop();
    server = await Server.start({ ...server.ports, dir: server.dir });
    b = new Broker(server.remoting, { cluster: 'C', name: 'broker-a', id: 0, addr: '10.0.0.1:10911' }).serve({ Keep: {}, Other: {} });
    await b.register();
    await until('the new process', async () => !(await page.locator('.rev').innerText()).startsWith(epoch));
    await page.locator('[aria-labelledby=facts]').getByText(/^3d00h/).waitFor({ state: 'detached', timeout: 10_000 });
    // What happened between the two is not in the list, and the list says so.
    await page.locator('[aria-labelledby=latest]').getByText('some changes were missed').waitFor({ timeout: 5000 });
  });
  await browser.quiet('the end', /404|412|503|Failed to load resource|WebSocket connection|ERR_CONNECTION/);
});
