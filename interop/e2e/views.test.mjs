// Every view in both languages and both themes: it stands, axe finds nothing, the console
// is empty, the policy has nothing to report.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Browser } from './lib/browser.mjs';
import { demo, quarrel } from './lib/demo.mjs';
import { Server } from './lib/server.mjs';
import { until } from './lib/wait.mjs';

const views = [
  '#/', '#/clusters', '#/clusters?by=zone', '#/brokers', '#/brokers/broker-a', '#/brokers/pay-c', '#/brokers/broker-a?tab=topics', '#/brokers/broker-a?tab=history', '#/brokers/nowhere',
  '#/topics', '#/topics?q=zzzz', '#/topics/OrderCreated', '#/topics/OrderCreated?tab=clients', '#/topics/OrderCreated?tab=history', '#/topics/OrderCreated?tab=raw', '#/topics/nowhere',
  '#/stale', '#/conflicts', '#/conflicts?q=twin', '#/conflicts?kind=registration-refused', '#/conflicts?q=zzzz', '#/events', '#/kv', '#/kv/ORDER_TOPIC_CONFIG', '#/kv/ORDER_TOPIC_CONFIG/OrderCreated', '#/kv?add=key', '#/config', '#/connections', '#/peers', '#/api', '#/nothing',
];
const dialogs = [['#/brokers/broker-a', '#wipe'], ['#/brokers/pay-c', '#restore'], ['#/topics/OrderCreated', '#delete-topic'], ['#/', '#account'], ['#/', '.nav .foot button'], ['#/config', 'main .dt tbody button']];

test('every view in two languages and two themes', async (t) => {
  const server = await Server.start({ flags: ['--peers', '10.0.0.2:9876;10.0.0.3:9876'] });
  t.after(() => server.stop());
  const fleet = await demo(server);
  fleet.push(...await quarrel(server));
  t.after(() => fleet.forEach((b) => b.stop()));
  for (const lang of ['en', 'zh-CN']) {
    await t.test(lang, async (t) => {
      const browser = await Browser.open({ locale: lang });
      t.after(() => browser.close());
      await browser.signIn(server);
      await browser.page.goto(server.base + '/ui/');
      await browser.settled();
      assert.equal(await browser.page.evaluate(() => document.documentElement.lang), lang);
      for (const theme of ['light', 'dark']) {
        await browser.page.emulateMedia({ colorScheme: theme });
        for (const view of views) {
          await t.test(`${theme} ${view}`, async () => {
            await browser.show(server, view);
            await browser.quiet(view);
            assert.deepEqual(await browser.axe(), []);
            const text = await browser.page.evaluate(() => document.querySelector('main').innerText);
            assert.doesNotMatch(text, /undefined|\[object|NaN|Invalid Date|(^|\s)(nav|col|state|change|op|kind|role|problem|type|tile|fact|stale|conflicts|kv|config)\.[a-z]\w+/, 'a text that is none');
          });
        }
        for (const [view, button] of dialogs) {
          await t.test(`${theme} ${view} ${button}`, async () => {
            await browser.show(server, view);
            await browser.page.locator(button).first().click();
            await browser.page.locator('dialog[open]').waitFor();
            await browser.page.waitForFunction(() => !document.querySelector('dialog .skeleton'));
            assert.deepEqual(await browser.axe(), []);
            await browser.page.keyboard.press('Escape');
            await browser.page.locator('dialog').waitFor({ state: 'detached' });
            await browser.quiet(button);
          });
        }
      }
    });
  }
});

test('an empty server says what a broker needs', async (t) => {
  const server = await Server.start();
  t.after(() => server.stop());
  const browser = await Browser.open();
  t.after(() => browser.close());
  for (const view of ['#/', '#/clusters', '#/brokers', '#/topics']) {
    await browser.show(server, view);
    await browser.page.getByText('namesrvAddr=127.0.0.1:9876').waitFor();
    assert.deepEqual(await browser.axe(), []);
  }
  await browser.show(server, '#/kv');
  await browser.page.getByText('No keys yet').waitFor();
  await browser.show(server, '#/stale');
  await browser.page.getByText('No leftovers').waitFor();
  await browser.show(server, '#/conflicts');
  await browser.page.getByText('No conflicts').waitFor();
  assert.deepEqual(await browser.axe(), []);
  await browser.quiet('an empty server');
});

test('conflicts appear by themselves, and their brokers and clusters are links', async (t) => {
  const server = await Server.start();
  t.after(() => server.stop());
  const browser = await Browser.open();
  t.after(() => browser.close());
  const { page } = browser;
  await browser.show(server, '#/conflicts');
  await page.getByText('No conflicts').waitFor();
  let asked = 0;
  page.on('request', (r) => { if (r.url().endsWith('/api/v1/conflicts')) asked++; });
  const fleet = await quarrel(server);
  t.after(() => fleet.forEach((b) => b.stop()));
  await page.getByRole('heading', { name: 'One name in two clusters' }).waitFor();
  await until('every kind', async () => await page.locator('main section.card').count() === 5);
  assert.ok(asked < 20, `${asked} calls for a dozen changes`);
  const twin = page.locator('main tr', { hasText: 'twin' }).first();
  assert.equal(await twin.getByRole('link', { name: 'PayCluster' }).getAttribute('href'), '#/clusters?cluster=PayCluster');
  assert.equal(await twin.getByRole('link', { name: 'DefaultCluster' }).getAttribute('href'), '#/clusters?cluster=DefaultCluster');
  await page.getByRole('cell', { name: 'member-held-by-remoting' }).getByText('an admin may take the place over').waitFor();
  // The keys of tables go from broker to broker.
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  assert.equal(await page.evaluate(() => document.activeElement.closest('section').querySelector('h2').textContent), 'Place contested');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash === '#/brokers/rival');
  // The first page names what goes on and leads there.
  await browser.show(server, '#/');
  const card = page.locator('main li.problem', { hasText: 'take rival (member 0) from each other' });
  await card.getByRole('link').click();
  await page.waitForFunction(() => location.hash === '#/conflicts?q=rival');
  await page.getByRole('heading', { name: 'Place contested' }).waitFor();
  // What fails is said beside what was read, or instead of it.
  await page.route('**/api/v1/conflicts', (r) => r.fulfill({ status: 403, contentType: 'application/problem+json', body: '{"code":"forbidden","title":"Not allowed","detail":"Only for others."}' }));
  await browser.show(server, '#/api');
  await browser.show(server, '#/conflicts');
  await page.getByRole('heading', { name: 'Not for your role' }).waitFor();
  await browser.quiet('conflicts', /403/);
});
