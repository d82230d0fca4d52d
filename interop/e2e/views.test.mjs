// Every view in both languages and both themes: it stands, axe finds nothing, the console
// is empty, the policy has nothing to report.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Browser } from './lib/browser.mjs';
import { demo } from './lib/demo.mjs';
import { Server } from './lib/server.mjs';

const views = [
  '#/', '#/clusters', '#/clusters?by=zone', '#/brokers', '#/brokers/broker-a', '#/brokers/pay-c', '#/brokers/broker-a?tab=topics', '#/brokers/broker-a?tab=history', '#/brokers/nowhere',
  '#/topics', '#/topics?q=zzzz', '#/topics/OrderCreated', '#/topics/OrderCreated?tab=clients', '#/topics/OrderCreated?tab=history', '#/topics/OrderCreated?tab=raw', '#/topics/nowhere',
  '#/stale', '#/events', '#/kv', '#/kv/ORDER_TOPIC_CONFIG', '#/kv/ORDER_TOPIC_CONFIG/OrderCreated', '#/kv?add=key', '#/config', '#/connections', '#/peers', '#/api', '#/nothing',
];
const dialogs = [['#/brokers/broker-a', '#wipe'], ['#/brokers/pay-c', '#restore'], ['#/topics/OrderCreated', '#delete-topic'], ['#/', '#account'], ['#/', '.nav .foot button'], ['#/config', 'main .dt tbody button']];

test('every view in two languages and two themes', async (t) => {
  const server = await Server.start({ flags: ['--peers', '10.0.0.2:9876;10.0.0.3:9876'] });
  t.after(() => server.stop());
  const fleet = await demo(server);
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
            assert.doesNotMatch(text, /undefined|\[object|NaN|Invalid Date|(^|\s)(nav|col|state|change|op|kind|role|problem|type|tile|fact|stale|kv|config)\.[a-z]\w+/, 'a text that is none');
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
  await browser.quiet('an empty server');
});
