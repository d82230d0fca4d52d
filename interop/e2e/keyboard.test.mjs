// Everything by keyboard: from the search box to a topic, to its broker, through stopping
// its writes and allowing them again. The mouse is never touched.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Browser } from './lib/browser.mjs';
import { demo } from './lib/demo.mjs';
import { Server } from './lib/server.mjs';
import { until } from './lib/wait.mjs';

/** What has the focus, and whether a person could see that it has. */
const focused = (page) => page.evaluate(() => {
  const el = document.activeElement;
  if (!el || el === document.body) return null;
  const box = el.getBoundingClientRect();
  const style = getComputedStyle(el);
  const at = document.elementFromPoint(Math.min(innerWidth - 1, Math.max(0, box.left + box.width / 2)), Math.min(innerHeight - 1, Math.max(0, box.top + Math.min(box.height / 2, 20))));
  return {
    id: el.id, tag: el.tagName, text: (el.getAttribute('aria-label') ?? el.innerText ?? '').trim().slice(0, 60),
    ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0,
    seen: box.width === 0 || box.bottom > 0 && box.top < innerHeight && (el.contains(at) || at?.contains(el)) === true,
  };
});

/** Presses Tab until something has the focus; every stop on the way has to be visible. */
async function tabTo(page, what, matches, most = 120) {
  for (let i = 0; i < most; i++) {
    await page.keyboard.press('Tab');
    const f = await focused(page);
    if (!f) continue;
    assert.ok(f.ring, `no focus ring on ${JSON.stringify(f)}`);
    assert.ok(f.seen, `the focus is hidden: ${JSON.stringify(f)}`);
    if (matches(f)) return f;
  }
  throw new Error(`${most} times Tab do not reach ${what}`);
}

/** A new page begins at its heading, for eyes and for screen readers. */
const atHeading = (page) => page.waitForFunction(() => document.activeElement?.tagName === 'H1');

test('search, open, stop writes, allow writes', async (t) => {
  const server = await Server.start();
  t.after(() => server.stop());
  const fleet = await demo(server);
  t.after(() => fleet.forEach((b) => b.stop()));
  const browser = await Browser.open();
  t.after(() => browser.close());
  const { page } = browser;
  await browser.signIn(server);
  await browser.show(server, '#/');

  await t.test('the skip link is the first stop and leads to the content', async () => {
    await page.keyboard.press('Tab');
    assert.match((await focused(page)).text, /Skip to content/);
    await page.keyboard.press('Enter');
    assert.equal((await focused(page)).id, 'main');
  });

  await t.test('search', async () => {
    await page.keyboard.press('/');
    await page.locator('#search[role=combobox]').waitFor();
    assert.equal((await focused(page)).id, 'search');
    await page.keyboard.type('stockpaid');
    await page.locator('[role=option][aria-selected=true]').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash.startsWith('#/topics/StockPaid'));
    assert.match(await page.locator('main h1').innerText(), /^StockPaid/);
    await atHeading(page);
  });

  await t.test('to the broker', async () => {
    await tabTo(page, 'a broker', (f) => /^(broker|pay|log)-[a-f]$/.test(f.text));
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash.startsWith('#/brokers/'));
    await atHeading(page);
  });

  const name = await page.evaluate(() => decodeURIComponent(location.hash.split('/')[2]));
  await t.test('stop writes', async () => {
    await tabTo(page, 'the button', (f) => f.id === 'wipe');
    await page.keyboard.press('Enter');
    await page.locator('dialog[open] input').waitFor();
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    assert.equal((await server.call('GET', `brokers/${name}/write-perm`)).writePerm, 'granted', 'the wrong name does nothing');
    await page.keyboard.press('Control+A');
    await page.keyboard.type(name);
    await page.keyboard.press('Enter');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await until('the wipe', async () => (await server.call('GET', `brokers/${name}/write-perm`)).writePerm === 'wiped');
    await page.locator('#restore').waitFor();
    assert.ok(await focused(page), 'the focus is somewhere after the dialog');
  });

  await t.test('allow writes', async () => {
    await tabTo(page, 'the button', (f) => f.id === 'restore');
    await page.keyboard.press('Enter');
    await page.locator('dialog[open]').waitFor();
    await tabTo(page, 'the action', (f) => f.text === 'Allow writes', 12);
    await page.keyboard.press('Enter');
    await page.locator('#wipe').waitFor();
    assert.equal((await server.call('GET', `brokers/${name}/write-perm`)).writePerm, 'granted');
  });

  await t.test('Escape closes a dialog and gives the focus back', async () => {
    await tabTo(page, 'the button', (f) => f.id === 'wipe');
    await page.keyboard.press('Enter');
    await page.locator('dialog[open]').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    assert.equal((await focused(page)).id, 'wipe');
  });

  await t.test('rows, pages, theme, language, pause, help', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.waitForFunction(() => location.hash.startsWith('#/topics'));
    await atHeading(page);
    await page.locator('main .dt tbody a').first().waitFor();
    for (let i = 0; i < 30; i++) await page.keyboard.press('j');
    await page.waitForFunction(() => document.activeElement.closest('tr')?.dataset.i > 20);
    assert.ok((await focused(page)).seen, 'a row deep in the table is in sight');
    const row = (await focused(page)).text;
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => /^#\/topics\/./.test(location.hash));
    assert.equal(await page.locator('main h1').innerText(), row);
    await page.keyboard.press('p');
    await page.getByText(/Paused since/).waitFor();
    await page.keyboard.press('p');
    await page.keyboard.press('t');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light');
    await page.keyboard.press('l');
    await page.waitForFunction(() => document.documentElement.lang === 'zh-CN');
    assert.match(page.url(), /lang=zh-CN/);
    await page.keyboard.press('l');
    await page.waitForFunction(() => document.documentElement.lang === 'en');
    await page.keyboard.press('?');
    await page.locator('dialog[open]').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
  });

  await t.test('single keys can be switched off, and rest inside fields', async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('g t');
    assert.match(page.url(), /#\/topics\//);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.evaluate(() => dispatchEvent(new Event('fingerpost:help')));
    await page.locator('dialog[open]').waitFor();
    await tabTo(page, 'the box', (f) => f.tag === 'INPUT', 10);
    await page.keyboard.press('Space');
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    const before = await page.evaluate(() => document.documentElement.dataset.theme);
    await page.keyboard.press('t');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), before);
  });
  await browser.quiet('the keyboard');
});
