// Makes the pictures of the documents, 1280 by 800, from the real program with the demo
// data. They are looked at by people, not compared by a test.
//   FINGERPOST=…/fingerpost node shots.mjs ../../docs/images
import path from 'node:path';
import { Broker } from './lib/broker.mjs';
import { Browser } from './lib/browser.mjs';
import { demo, topicNames } from './lib/demo.mjs';
import { Server } from './lib/server.mjs';
import { until } from './lib/wait.mjs';

const out = path.resolve(process.argv[2] ?? '.');
const pause = (ms) => new Promise((r) => setTimeout(r, ms));

/** Ordinary life for a while, so that the small charts have something to draw. */
async function life(server, fleet, seconds) {
  const names = topicNames(200);
  const masters = fleet.filter((b) => b.id === 0);
  // Heartbeats at their own pace, and one broker that has fallen silent.
  fleet.forEach((b, i) => {
    b.rest();
    if (b.name !== 'log-c') b.live(9000 + 3100 * (i % 7));
  });
  for (let s = 0; s < seconds; s++) {
    const n = Math.round(60 + 45 * Math.sin(s / 7) + 25 * Math.sin(s / 2.3));
    for (let i = 0; i < n; i++) fleet[i % fleet.length].lookup(names[(s * 7 + i) % names.length]).catch(() => {});
    if (s % 13 === 4) await masters[(s * 3) % 5].serve({ ['Campaign' + s]: {} }).register();
    if (s % 29 === 17) await server.call('PUT', 'kv/ORDER_TOPIC_CONFIG/OrderPaid', { value: 'broker-a:' + (4 + s % 5) });
    if (s === seconds - 75) await server.call('PATCH', 'config', { scanNotActiveBrokerInterval: '4000' }, { 'Content-Type': 'application/merge-patch+json' });
    await pause(1000);
  }
}

async function shoot(browser, name) {
  await browser.page.mouse.move(640, 790);
  await browser.page.evaluate(() => document.activeElement?.blur());
  await pause(700);
  await browser.page.screenshot({ path: path.join(out, name + '.png') });
  console.log(name);
}

async function with_(server, o, f) {
  const browser = await Browser.open(o);
  try {
    await browser.signIn(server);
    await f(browser);
  } finally {
    await browser.close();
  }
}

const server = await Server.start();
// One of three, for the dialog that offers to do the same on the others. They do not exist,
// which would be the news of the overview.
const one = await Server.start({ flags: ['--peers', '10.0.0.2:9876;10.0.0.3:9876'] });
try {
  const fleet = await demo(server, { topics: 240 });
  const other = await demo(one, { topics: 240 });
  // Life goes on while the pictures are made.
  const seconds = Number(process.env.SECONDS_OF_LIFE ?? 85);
  life(server, fleet, seconds + 60).catch(() => {}); // ends with the brokers
  await pause(seconds * 1000);
  await with_(server, {}, async (b) => {
    await b.show(server, '#/');
    await b.page.locator('.spark').first().waitFor();
    await shoot(b, 'overview');
    await fleet[0].serve({ OrderCreated: { write: 24, read: 24 }, PaymentPaid: { perm: 4 }, CouponIssued: { type: 'FIFO', order: true } }).register();
    await b.show(server, '#/events?kind=member');
    await b.page.locator('.event header', { hasText: 'Broker changed: broker-a' }).first().click();
    await b.page.locator('.diff').first().waitFor();
    await shoot(b, 'event-diff');
  });
  await with_(one, {}, async (b) => {
    await b.show(one, '#/brokers/broker-a');
    await b.page.locator('#wipe').click();
    await b.page.locator('dialog[open] input.in').waitFor();
    await b.page.locator('dialog details').evaluate((d) => { d.open = true; });
    await b.page.locator('dialog input.in').fill('broker-a');
    await pause(700);
    await b.page.screenshot({ path: path.join(out, 'confirm.png') });
    console.log('confirm');
  });
  await with_(server, { colorScheme: 'dark' }, async (b) => {
    await b.show(server, '#/clusters');
    await shoot(b, 'clusters-dark');
  });
  await with_(server, { locale: 'zh-CN' }, async (b) => {
    await b.show(server, '#/');
    await b.page.locator('.spark').first().waitFor();
    await shoot(b, 'overview-zh');
  });
  const big = {};
  for (const name of topicNames(20_000)) big[name] = { write: 8, read: 8, order: name.length % 19 === 0, type: name.length % 11 === 0 ? 'FIFO' : undefined };
  const bulk = new Broker(server.remoting, { cluster: 'DefaultCluster', name: 'broker-g', id: 0, addr: '10.0.0.40:10911', zone: 'cn-hz-a' });
  await bulk.serve(big).register();
  await with_(server, {}, async (b) => {
    await b.show(server, '#/topics');
    await until('all topics', () => b.page.getByText(/of 20,\d\d\d/).isVisible());
    await b.page.evaluate(() => { document.querySelector('main .dt').scrollTop = 330_000; });
    await shoot(b, 'topics');
  });
  bulk.stop();
  [...fleet, ...other].forEach((b) => b.stop());
} finally {
  await server.stop();
  await one.stop();
}
