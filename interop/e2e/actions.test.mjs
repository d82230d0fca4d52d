// What can be changed from the page: key-value with conflicts, settings, topics, members,
// leftovers; and that who may only read is shown nothing to press.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Broker } from './lib/broker.mjs';
import { Browser } from './lib/browser.mjs';
import { Server } from './lib/server.mjs';
import { until } from './lib/wait.mjs';

test('changes from the page', async (t) => {
  const server = await Server.start({ flags: ['--peers', '127.0.0.1:1'] });
  t.after(() => server.stop());
  const b = new Broker(server.remoting, { cluster: 'C', name: 'broker-a', id: 0, addr: '10.0.0.1:10911' });
  await b.serve({ Keep: {}, Old: {}, Older: {} }).register();
  t.after(() => b.stop());
  const browser = await Browser.open();
  t.after(() => browser.close());
  const { page } = browser;

  await t.test('a viewer finds nothing to press', async () => {
    for (const view of ['#/brokers/broker-a', '#/topics/Keep', '#/stale', '#/kv', '#/config']) {
      await browser.show(server, view);
      await page.locator('main h1').waitFor();
      assert.deepEqual(await page.locator('main .btn.danger, main .btn.primary, main #kv-new').count(), 0, view);
    }
    await page.getByRole('button', { name: 'Account: anonymous, viewer' }).waitFor();
    assert.equal((await fetch(server.base + '/api/v1/topics/Keep', { method: 'DELETE' })).status, 401);
  });

  await browser.signIn(server);
  await page.reload(); // the role is learnt at the beginning
  await browser.show(server, '#/kv');

  await t.test('a new key', async () => {
    await page.locator('#kv-new').click();
    await page.getByLabel('Namespace', { exact: true }).fill('ORDER_TOPIC_CONFIG');
    await page.getByLabel('Key', { exact: true }).fill('Keep');
    await page.getByLabel(/^Value/).fill('broker-a:4');
    assert.ok(await page.getByLabel('Also on 127.0.0.1:1').isChecked());
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('It was done here, but not on 1 peer: 127.0.0.1:1').waitFor();
    await page.waitForFunction(() => location.hash === '#/kv/ORDER_TOPIC_CONFIG/Keep');
    assert.equal((await server.call('GET', 'kv/ORDER_TOPIC_CONFIG/Keep')).value, 'broker-a:4');
    assert.equal(await page.getByLabel('Queues (W / R)').inputValue(), '4');
  });

  await t.test('the form and the text are one', async () => {
    await page.locator('fieldset.order').getByRole('button', { name: 'Broker', exact: true }).click();
    await page.waitForFunction(() => document.querySelector('textarea').value.startsWith('broker-a:4;'));
    await page.getByRole('button', { name: 'Remove broker-a' }).first().click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.waitForFunction(() => document.querySelector('textarea').value === 'broker-a:4');
  });

  await t.test('somebody else was faster: take theirs', async () => {
    await page.getByLabel(/^Value/).fill('broker-a:5');
    await server.call('PUT', 'kv/ORDER_TOPIC_CONFIG/Keep', { value: 'broker-a:9' });
    await page.getByText('Somebody has changed this key').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody else has saved this key').waitFor();
    assert.equal((await server.call('GET', 'kv/ORDER_TOPIC_CONFIG/Keep')).value, 'broker-a:9', 'nothing was overwritten');
    assert.deepEqual(await browser.axe(), []);
    await page.locator('#keep-theirs').click();
    await page.waitForFunction(() => document.querySelector('textarea').value === 'broker-a:9');
  });

  await t.test('somebody else was faster: keep mine', async () => {
    await page.getByLabel(/^Value/).fill('broker-a:6');
    await server.call('PUT', 'kv/ORDER_TOPIC_CONFIG/Keep', { value: 'broker-a:7' });
    await page.getByText('Somebody has changed this key').waitFor();
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.locator('#keep-mine').click();
    await until('my value', async () => (await server.call('GET', 'kv/ORDER_TOPIC_CONFIG/Keep')).value === 'broker-a:6');
  });

  await t.test('a key is removed only by its name', async () => {
    await page.getByRole('button', { name: 'Delete…' }).click();
    const go = page.locator('dialog .btn.danger');
    assert.ok(await go.isDisabled());
    const box = page.locator('dialog').getByLabel('Also on 127.0.0.1:1');
    await box.waitFor();
    assert.ok(await box.isChecked());
    await page.locator('dialog input.in').fill('Keep');
    await go.click();
    // Done here; on the peer, which nobody answers for, it was not.
    await page.locator('.toast').getByText('It was done here, but not on 1 peer').waitFor();
    assert.deepEqual(await browser.axe(), []);
    await page.locator('.toast button').click();
    await page.waitForFunction(() => location.hash === '#/kv/ORDER_TOPIC_CONFIG');
    await assert.rejects(server.call('GET', 'kv/ORDER_TOPIC_CONFIG/Keep'), /404/);
  });
  // A conflict is an answer like any other; the browser tells it on the console by itself.
  await browser.quiet('key-value', /412|404/);

  await t.test('a setting, first a wrong value, then a right one', async () => {
    await browser.show(server, '#/config?q=scanNotActive');
    await page.getByRole('button', { name: 'Change scanNotActiveBrokerInterval' }).click();
    const dialog = page.locator('dialog');
    await dialog.getByLabel(/^Value/).fill('7');
    await dialog.getByRole('button', { name: 'Check' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel(/^Value/).fill('4000');
    await dialog.getByRole('button', { name: 'Check' }).click();
    await dialog.getByText('takes effect at once').waitFor();
    assert.equal((await server.call('GET', 'config')).items.find((i) => i.key === 'scanNotActiveBrokerInterval').value, '5000', 'a check changes nothing');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.locator('main .dt').getByText('4000').waitFor();
    assert.equal((await server.call('GET', 'config')).items.find((i) => i.key === 'scanNotActiveBrokerInterval').value, '4000');
  });

  await t.test('a topic, with what would come back', async () => {
    await browser.show(server, '#/topics/Keep');
    await page.locator('#delete-topic').click();
    await page.locator('dialog').getByText('Likely to bring it back').waitFor();
    await page.getByLabel('Also on 127.0.0.1:1').uncheck();
    await page.locator('dialog input.in').fill('Keep');
    await page.locator('dialog .btn.danger').click();
    await page.waitForFunction(() => location.hash === '#/topics');
    await assert.rejects(server.call('GET', 'topics/Keep'), /404/);
  });

  await t.test('a member that came over REST', async () => {
    await server.call('PUT', 'brokers/bridge/members/0', { clusterName: 'C', brokerAddr: '10.0.0.9:10911', topicConfigTable: { B: { readQueueNums: 1, writeQueueNums: 1, perm: 6 } } });
    await browser.show(server, '#/brokers/bridge');
    await page.getByRole('button', { name: 'Take out…' }).click();
    await page.locator('dialog input').fill('bridge');
    await page.locator('dialog .btn.danger').click();
    await page.getByText('Not registered').waitFor();
    await assert.rejects(server.call('GET', 'brokers/bridge'), /404/);
  });

  await t.test('leftovers are asked about before they go', async () => {
    // The server waits 90 s before it calls a topic a leftover; the list is told here, what
    // is done with it is real.
    await page.route('**/api/v1/stale-topics?*', async (r) => {
      const names = (await server.call('GET', 'topics?limit=1000')).items.map((x) => x.topic).filter((n) => n.startsWith('Old'));
      const items = names.map((topic) => ({ topic, brokerName: 'broker-a', reason: 'not-in-last-registration', sinceAt: new Date(Date.now() - 100_000).toISOString(), removable: true, lastSaid: {} }));
      await r.fulfill({ json: { revision: 'x.1', total: items.length, items } });
    });
    await browser.show(server, '#/stale');
    await page.getByRole('button', { name: 'Choose the 2 removable' }).click();
    await page.locator('#stale-check').click();
    const dialog = page.locator('dialog');
    assert.equal(await dialog.locator('.btn.danger').count(), 0, 'no button to remove before the answer');
    await dialog.getByRole('button', { name: 'Ask' }).click();
    await dialog.getByRole('cell', { name: 'Older' }).waitFor();
    assert.ok(await server.call('GET', 'topics/Old'), 'asking removes nothing');
    await dialog.getByRole('button', { name: 'Remove 2' }).click();
    await page.getByText('No leftovers').waitFor();
    await assert.rejects(server.call('GET', 'topics/Older'), /404/);
  });

  await t.test('every change has its actor', async () => {
    const { items } = await server.call('GET', 'events?limit=50');
    const mine = items.filter((e) => e.cause.face === 'dashboard');
    assert.ok(mine.length >= 6 && mine.every((e) => e.cause.actor === 'token:admin'), JSON.stringify(mine.map((e) => e.cause)));
  });
  await browser.quiet('actions', /400|404/);
});
