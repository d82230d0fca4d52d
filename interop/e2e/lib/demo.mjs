// A small company's RocketMQ: three clusters in three zones, with what goes wrong in one.
import { Broker } from './broker.mjs';

const zones = ['cn-hz-a', 'cn-hz-b', 'cn-hz-c'];
const subjects = ['Order', 'Payment', 'Invoice', 'Stock', 'Shipping', 'User', 'Coupon', 'Refund', 'Search', 'Audit'];
const verbs = ['Created', 'Paid', 'Changed', 'Cancelled', 'Expired', 'Checked', 'Sent', 'Confirmed'];

/** Names that people use, n of them. */
export function topicNames(n) {
  const out = [];
  for (let i = 0; out.length < n; i++) {
    const name = subjects[i % 10] + verbs[Math.floor(i / 10) % 8] + (i < 80 ? '' : Math.floor(i / 80));
    out.push(name);
    if (i % 3 === 0) out.push('%RETRY%' + name.toLowerCase() + '-svc');
    if (i % 25 === 0) out.push('%DLQ%' + name.toLowerCase() + '-svc');
  }
  return out.slice(0, n);
}

/**
 * Starts the brokers and leaves one set without its master, one without write permission.
 * @returns {Promise<Broker[]>} those still connected
 */
export async function demo(server, { topics = 240 } = {}) {
  const fleet = [];
  const clusters = [['DefaultCluster', 'broker', 6], ['PayCluster', 'pay', 3], ['LogCluster', 'log', 3]];
  const names = topicNames(topics);
  let host = 20;
  for (const [at, [cluster, prefix, count]] of clusters.entries()) {
    for (let b = 0; b < count; b++) {
      const name = prefix + '-' + 'abcdefgh'[b];
      host++;
      for (const id of b % 3 === 2 ? [0] : [0, 1]) {
        const broker = new Broker(server.remoting, { cluster, name, id, addr: `10.0.${id}.${host}:10911`, zone: zones[(b + id) % 3], acting: true });
        const own = Object.fromEntries(names.filter((_, i) => (at === 0 ? i % 2 === 0 : i % 4 === at)).map((n, i) => [n, { write: 8, read: 8, order: i % 17 === 0, type: i % 11 === 0 ? 'FIFO' : i % 13 === 0 ? 'TRANSACTION' : undefined }]));
        broker.serve({ ...own, [name]: { read: 1, write: 1, perm: 7 }, [cluster]: { read: 16, write: 16, perm: 7 }, TBW102: { perm: 7 }, RMQ_SYS_TRANS_HALF_TOPIC: { read: 1, write: 1 } });
        await broker.register();
        fleet.push(broker.live());
      }
    }
  }
  await server.call('PUT', 'kv/ORDER_TOPIC_CONFIG/OrderCreated', { value: 'broker-a:8;broker-c:8' });
  await server.call('PUT', 'brokers/bridge-1/members/0', {
    clusterName: 'DefaultCluster', brokerAddr: '10.0.9.9:10911', heartbeatTimeoutMillis: 3_600_000, topicConfigTable: { BridgeIn: { readQueueNums: 4, writeQueueNums: 4, perm: 6 } },
  });
  // A changed registration, for the history.
  const first = fleet[0];
  first.serve({ OrderCreated: { write: 16, read: 16 }, RefundPaid: { perm: 4 }, LoyaltyEarned: { type: 'FIFO', order: true } });
  await first.register();
  const lost = fleet.find((b) => b.name === 'broker-b' && b.id === 0);
  lost.stop();
  await server.call('DELETE', 'brokers/pay-c/write-perm');
  return fleet.filter((b) => b !== lost);
}

/**
 * Every kind of conflict: one name in two clusters, a place and an address that change
 * hands, a registration that is refused, a sign-off that comes too late.
 * @returns {Promise<Broker[]>} those that are connected
 */
export async function quarrel(server) {
  const broker = (cluster, name, id, addr) => new Broker(server.remoting, { cluster, name, id, addr });
  const twins = [broker('DefaultCluster', 'twin', 0, '10.0.7.1:10911'), broker('PayCluster', 'twin', 1, '10.0.7.2:10911')];
  const rivals = [broker('LogCluster', 'rival', 0, '10.0.7.3:10911'), broker('LogCluster', 'rival', 0, '10.0.7.4:10911')];
  const shared = [broker('LogCluster', 'left-hand', 0, '10.0.7.5:10911'), broker('LogCluster', 'right-hand', 0, '10.0.7.5:10911')];
  for (const b of twins) await b.register();
  for (let i = 0; i < 4; i++) for (const pair of [rivals, shared]) await pair[i % 2].register();
  const late = broker('LogCluster', 'rival', 0, '10.0.7.7:10911');
  await late.connect();
  await late.unregister();
  const taken = { clusterName: 'DefaultCluster', brokerAddr: '10.0.7.6:10911', topicConfigTable: {} };
  await server.call('PUT', 'brokers/twin/members/0', taken).then(() => { throw new Error('a held place was given away'); }, (err) => {
    if (!/member-held-by-remoting/.test(err.message)) throw err;
  });
  twins.forEach((b) => b.live());
  return [...twins, ...rivals, ...shared, late];
}
