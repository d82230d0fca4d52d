// The page at its limits: 320 pixels wide, enlarged to 200 %, with spaced text, without
// motion, in forced colours.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Browser } from './lib/browser.mjs';
import { demo, quarrel } from './lib/demo.mjs';
import { Server } from './lib/server.mjs';

const views = ['#/', '#/clusters', '#/brokers', '#/brokers/broker-a', '#/topics', '#/topics/OrderCreated', '#/topics/OrderCreated?tab=clients', '#/stale', '#/conflicts', '#/events', '#/kv/ORDER_TOPIC_CONFIG/OrderCreated', '#/config', '#/connections', '#/peers', '#/api'];

/** What sticks out of the window although it does not scroll by itself. */
const overflow = () => {
  const wide = [];
  if (document.documentElement.scrollWidth > innerWidth + 1) {
    for (const el of document.querySelectorAll('body *')) {
      const box = el.getBoundingClientRect();
      if (box.right > innerWidth + 1 && box.width > 0 && !el.closest('.dt, .scroll, .code, .tabs, .sr, dialog, [popover]')) wide.push(el.tagName + '.' + el.className);
    }
    wide.push('the document is ' + document.documentElement.scrollWidth + ' wide');
  }
  return wide.slice(0, 5);
};

test('small, large, spaced, still', async (t) => {
  const server = await Server.start({ flags: ['--peers', '10.0.0.2:9876'] });
  t.after(() => server.stop());
  const fleet = await demo(server, { topics: 60 });
  fleet.push(...await quarrel(server));
  t.after(() => fleet.forEach((b) => b.stop()));
  for (const [what, o, locale] of [['320 pixels', { viewport: { width: 320, height: 640 } }, 'en-US'], ['320 pixels, Chinese', { viewport: { width: 320, height: 640 } }, 'zh-CN'], ['200 %', { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }, 'en-US']]) {
    await t.test(what, async (t) => {
      const browser = await Browser.open({ ...o, locale });
      t.after(() => browser.close());
      await browser.signIn(server);
      for (const view of views) {
        await browser.show(server, view);
        assert.deepEqual(await browser.page.evaluate(overflow), [], view);
      }
      // Places and dialogs are within reach as well.
      const menu = browser.page.locator('.bar .menu');
      await menu.click();
      await browser.page.locator('.nav.open a').first().waitFor();
      await browser.page.locator('.nav.open a').nth(2).click();
      await browser.page.waitForFunction(() => location.hash.startsWith('#/brokers'));
      await browser.show(server, '#/topics/OrderCreated');
      await browser.page.locator('#delete-topic').click();
      await browser.page.locator('dialog[open]').waitFor();
      const box = await browser.page.locator('dialog').boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= o.viewport.width, 'the dialog fits');
      await browser.page.keyboard.press('Escape');
      await browser.quiet(what);
    });
  }

  await t.test('spaced text', async (t) => {
    const browser = await Browser.open();
    t.after(() => browser.close());
    await browser.show(server, '#/');
    await browser.page.evaluate(() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync('* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; } p { margin-bottom: 2em !important; }');
      document.adoptedStyleSheets = [sheet];
    });
    for (const view of views) {
      await browser.show(server, view);
      assert.deepEqual(await browser.page.evaluate(overflow), [], view);
      const cut = await browser.page.evaluate(() => [...document.querySelectorAll('main :is(.btn, .chip, .badge), .bar .pill')].filter((e) => e.scrollWidth > e.clientWidth + 2 && e.clientWidth > 0).map((e) => e.innerText));
      assert.deepEqual(cut, [], view);
    }
  });

  await t.test('without motion, and in forced colours', async (t) => {
    const browser = await Browser.open({ reducedMotion: 'reduce' });
    t.after(() => browser.close());
    await browser.show(server, '#/');
    const seconds = await browser.page.evaluate(() => parseFloat(getComputedStyle(document.querySelector('.pill svg')).animationDuration));
    assert.ok(seconds < 0.001, 'nothing moves');
    await browser.page.emulateMedia({ forcedColors: 'active' });
    const outline = await browser.page.evaluate(() => getComputedStyle(document.querySelector('.nav a[aria-current]')).outlineStyle);
    assert.equal(outline, 'solid', 'the active place can be told without colour');
  });
});
