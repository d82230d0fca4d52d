// Live, and honest about it: changes appear, a dead server is seen to be dead, and after a
// restart the page ends equal to the registry without being loaded again.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Browser } from './lib/browser.mjs';
import { Broker } from './lib/broker.mjs';
import { prefixProxy } from './lib/proxy.mjs';
import { demo } from './lib/demo.mjs';
import { Server } from './lib/server.mjs';
import { until, within } from './lib/wait.mjs';

const equal = (browser, server) => until('page and registry to be equal', async () => {
  assert.deepEqual(await browser.dump(), await server.dump());
  return true;
});

test('changes, a cut, a restart', async (t) => {
  let server = await Server.start();
  t.after(() => server.stop());
  let fleet = await demo(server, { topics: 120 });
  t.after(() => fleet.forEach((b) => b.stop()));
  const browser = await Browser.open();
  t.after(() => browser.close());
  const { page } = browser;
  await browser.show(server, '#/');
  await page.evaluate(() => { globalThis.sameDocument = true; });

  await t.test('it begins equal', () => equal(browser, server));

  await t.test('a broker that comes and goes', async () => {
    const b = new Broker(server.remoting, { cluster: 'NewCluster', name: 'newcomer', id: 0, addr: '10.9.9.9:10911' }).serve({ NewTopic: {}, OtherTopic: {} });
    await b.register();
    await page.getByText('4 clusters').waitFor();
    await equal(browser, server);
    b.stop();
    await page.getByText('3 clusters').waitFor();
    await page.locator('.problem', { hasText: 'newcomer' }).getByText(/has been gone since/).waitFor();
    assert.match(await page.title(), /^\(\d+\) Overview · Fingerpost$/, 'the title counts what needs a look');
    await page.locator('[role=status]', { hasText: /need a look|needs a look/ }).waitFor({ state: 'attached' });
    await equal(browser, server);
  });

  await t.test('a change of many topics at once', async () => {
    const names = Object.fromEntries(Array.from({ length: 1500 }, (_, i) => ['Bulk' + i, { write: 1 + i % 7 }]));
    fleet[0].serve(names);
    await fleet[0].register();
    await equal(browser, server);
  });

  await t.test('pause holds everything, and goes on', async () => {
    await browser.show(server, '#/topics');
    await page.locator('#pause').click();
    const before = await browser.dump();
    fleet[1].serve({ WhilePaused: {} });
    await fleet[1].register();
    await fleet[0].serve({ WhilePaused: {} }).register();
    await page.getByText(/change(s)? wait/).waitFor();
    assert.match(await page.locator('.pill').innerText(), /Paused since \d\d:\d\d:\d\d/);
    assert.deepEqual(await browser.dump(), before);
    await page.locator('#pause').click();
    await equal(browser, server);
  });

  await t.test('a server that is gone', async () => {
    await browser.show(server, '#/clusters');
    // The other views are fetched when the first one stands.
    await until('all views', () => browser.requests.some((r) => r.endsWith('/rest.js')));
    await browser.quiet('so far');
    await server.stop({ keep: true, signal: 'SIGKILL' });
    await page.locator('.banner', { hasText: /No word from the server since/ }).waitFor();
    await page.locator('main[data-stale]').waitFor();
    assert.ok(await page.getByText('DefaultCluster').first().isVisible(), 'the last data stays');
    assert.match(await page.locator('.pill').innerText(), /Stale since/);
    const green = await page.evaluate(() => {
      const ok = new Set(['light-dark(#17693a, #63cf92)', 'rgb(23, 105, 58)', 'rgb(99, 207, 146)']);
      return [...document.querySelectorAll('main .badge, .bar .pill, main .member svg')].filter((e) => ok.has(getComputedStyle(e).color)).length;
    });
    assert.equal(green, 0, 'no green light over stale data');
    await browser.show(server, '#/brokers');
    await page.getByText('was live').first().waitFor();
    assert.deepEqual(await browser.axe(), []);
  });

  await t.test('the server is back with other content', async () => {
    fleet.forEach((b) => b.stop());
    server = await Server.start({ ...server.ports, dir: server.dir });
    fleet = await demo(server, { topics: 60 });
    await page.locator('main[data-stale]').waitFor({ state: 'detached' });
    await equal(browser, server);
    assert.equal(await page.evaluate(() => globalThis.sameDocument), true, 'the page was not loaded again');
  });

  await t.test('an orderly restart leaves no trace on the page', async () => {
    await page.evaluate(() => {
      globalThis.flashes = [];
      globalThis.heading = document.querySelector('main h1');
      new MutationObserver(() => {
        if (document.querySelector('main .skeleton') || !globalThis.heading.isConnected) globalThis.flashes.push(document.querySelector('main').innerText.slice(0, 80));
      }).observe(document.body, { subtree: true, childList: true });
    });
    await server.stop({ keep: true });
    fleet.forEach((b) => b.stop());
    server = await Server.start({ ...server.ports, dir: server.dir });
    fleet = await demo(server, { topics: 60 });
    await until('the new process', async () => (await page.locator('.rev').innerText()).startsWith((await server.call('GET', 'version')).epoch));
    await equal(browser, server);
    assert.deepEqual(await page.evaluate(() => globalThis.flashes), [], 'nothing was torn down in between');
  });
  // Refused connections are told on the console by the browser itself.
  await browser.quiet('the end', /WebSocket connection|ERR_CONNECTION|Failed to load resource/);
});

/** A promise and what resolves it. */
function later() {
  let resolve;
  const promise = new Promise((r) => { resolve = r; });
  return { promise, resolve };
}

// What the first view does not need comes later; a person may be faster.
test('before everything is loaded', async (t) => {
  const server = await Server.start();
  t.after(() => server.stop());
  const fleet = await demo(server, { topics: 60 });
  t.after(() => fleet.forEach((b) => b.stop()));
  const browser = await Browser.open();
  t.after(() => browser.close());
  const { page } = browser;
  // Shows the first view while the rest is held back until it is released.
  const hold = async () => {
    await page.unroute('**/rest.js');
    await page.goto('about:blank');
    const { promise: held, resolve: release } = later();
    const { promise: asked, resolve: ask } = later();
    await page.route('**/rest.js', async (r) => {
      ask();
      await held;
      await r.continue();
    });
    await browser.show(server, '#/');
    return { asked, release };
  };

  await t.test('a view that comes after it was drawn as loading, before that is on the screen', async () => {
    const { asked, release } = await hold();
    await within(60_000, 'the rest to be fetched ahead', asked);
    await page.evaluate(() => {
      // The screen is slow: what waits for a frame waits for a second.
      const real = globalThis.setTimeout;
      globalThis.requestAnimationFrame = () => 0;
      globalThis.setTimeout = (f, millis = 0, ...rest) => real(f, millis + 1000, ...rest);
      location.hash = '#/topics';
    });
    await page.locator('main .skeleton').waitFor();
    release();
    await page.locator('main .dt tbody tr[data-i]').first().waitFor();
  });

  await t.test('the search box takes every letter', async () => {
    const { release } = await hold();
    await page.keyboard.press('/');
    await page.keyboard.type('broker-p');
    assert.equal(await page.locator('#search').inputValue(), 'broker-p');
    assert.equal(await page.locator('#pause').getAttribute('aria-pressed'), 'false', 'no letter is a shortcut');
    release();
    await page.locator('#search[role=combobox]').waitFor();
    await page.keyboard.type('x');
    assert.equal(await page.locator('#search').inputValue(), 'broker-px');
    await page.getByRole('option').first().waitFor();
  });

  await t.test('what cannot be fetched is told, and can be tried again', async () => {
    await page.unroute('**/rest.js');
    await page.goto('about:blank');
    let lost = 0;
    await page.route('**/rest.js', (r) => (++lost === 1 ? r.abort() : r.continue()));
    await browser.show(server, '#/');
    await page.locator('#account').click();
    await page.getByText(/cannot be reached/i).waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('dialog[open]').waitFor();
  });
  await browser.quiet('the end', /rest\.js/);
});

// What some proxies do not let through, and what the page then does without.
for (const [what, lost] of [['websockets', ['WebSocket']], ['websockets and event streams', ['WebSocket', 'EventSource']]]) {
  test('without ' + what, async (t) => {
    const server = await Server.start();
    t.after(() => server.stop());
    const fleet = await demo(server, { topics: 60 });
    t.after(() => fleet.forEach((b) => b.stop()));
    const browser = await Browser.open();
    t.after(() => browser.close());
    await browser.context.addInitScript((names) => {
      for (const name of names) {
        globalThis[name] = class {
          constructor() {
            setTimeout(() => {
              this.onclose?.({ code: 1006 });
              this.onerror?.();
            });
          }

          addEventListener() {}

          close() {}
        };
      }
    }, lost);
    await browser.show(server, '#/brokers');
    await browser.page.locator('.pill', { hasText: 'Live' }).waitFor();
    await equal(browser, server);
    await fleet[0].serve({ OverEvents: {} }).register();
    await equal(browser, server);
    await browser.page.locator('main td', { hasText: 'V5_5_0' }).first().waitFor();
    fleet[0].serve(Object.fromEntries(Array.from({ length: 900 }, (_, i) => ['Many' + i, {}])));
    await fleet[0].register();
    await equal(browser, server);
    fleet.pop().stop();
    await equal(browser, server);
    await browser.quiet(what);
  });
}

test('below a prefix of a reverse proxy', async (t) => {
  const server = await Server.start();
  t.after(() => server.stop());
  const b = await new Broker(server.remoting, { cluster: 'C', name: 'b', id: 0, addr: '10.0.0.1:10911' }).serve({ T: {}, U: {} });
  await b.register();
  t.after(() => b.stop());
  const proxy = await prefixProxy(server, '/mq');
  t.after(() => proxy.close());
  const browser = await Browser.open();
  t.after(() => browser.close());
  const at = { base: proxy.base, token: server.token };
  await browser.signIn(at);
  await browser.show(at, '#/');
  await browser.page.locator('.pill', { hasText: 'Live' }).waitFor();
  for (const view of ['#/topics/T', '#/topics/T?tab=clients', '#/events', '#/kv', '#/config', '#/api', '#/stale']) {
    await browser.show(at, view);
    await browser.quiet(view);
  }
  await browser.show(at, '#/brokers/b');
  await browser.page.locator('#wipe').click();
  await browser.page.locator('dialog input').fill('b');
  await browser.page.locator('dialog .btn.danger').click();
  await browser.page.locator('#restore').waitFor();
  assert.ok(browser.requests.every((r) => new URL(r).pathname.startsWith('/mq/') || r.startsWith('data:')), 'nothing is asked outside of the prefix');
});

test('a clock that is an hour off', async (t) => {
  const server = await Server.start();
  t.after(() => server.stop());
  const b = new Broker(server.remoting, { cluster: 'C', name: 'b', id: 0, addr: '10.0.0.1:10911' }).serve({ T: {}, U: {} });
  await b.register();
  t.after(() => b.stop());
  const browser = await Browser.open();
  t.after(() => browser.close());
  await browser.context.addInitScript(() => {
    const real = Date.now;
    Date.now = () => real() + 3_600_000;
  });
  await browser.show(server, '#/brokers');
  await browser.page.locator('main .badge', { hasText: 'live' }).waitFor();
  await browser.page.waitForFunction(() => /^(1m|\d+s)/.test(document.querySelector('main .left span')?.textContent ?? ''));
  assert.match(await browser.page.locator('.pill').innerText(), /Live/);
});

test('a session that ends', async (t) => {
  const server = await Server.start({ flags: ['--auth-anonymous-role', 'none'] });
  t.after(() => server.stop());
  const browser = await Browser.open();
  t.after(() => browser.close());
  const { page } = browser;
  await page.goto(server.base + '/ui/#/topics');
  await page.locator('input[name=token]').waitFor();
  assert.deepEqual(await browser.axe(), []);
  await page.locator('input[name=token]').fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByText('does not know these credentials').waitFor();
  await page.locator('input[name=token]').fill(server.token);
  await page.keyboard.press('Enter');
  await page.locator('.pill', { hasText: 'Live' }).waitFor();
  assert.match(page.url(), /#\/topics/);
  await page.locator('#account').click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.locator('input[name=token]').waitFor();
});
