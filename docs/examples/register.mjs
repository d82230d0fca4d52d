// Keeps a broker registered at every name server until it is told to end. See README.md.
import { setTimeout as pause } from "node:timers/promises";

const { NAMESERVERS = "http://127.0.0.1:8876", BROKER = "bridge-1", ADDRESS = "127.0.0.1:10911", TTL = "60000", TOKEN } = process.env;
const place = `/api/v1/brokers/${encodeURIComponent(BROKER)}/members/0`;
const statement = {
  clusterName: "DefaultCluster",
  brokerAddr: ADDRESS,
  heartbeatTimeoutMillis: Number(TTL),
  topicConfigTable: { Bridged: { readQueueNums: 4, writeQueueNums: 4 } },
};
const over = new AbortController();
process.once("SIGTERM", () => over.abort());
const wait = (millis) => pause(millis, null, { signal: over.signal }).catch(() => {});

const ask = (server, method, path, body) =>
  fetch(server + path, {
    method,
    headers: { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(10000),
  });

async function keep(server) {
  let known = false, failures = 0;
  while (!over.signal.aborted) {
    try {
      const answer = await (known ? ask(server, "POST", `${place}/heartbeat`) : ask(server, "PUT", place, statement));
      if (answer.ok) {
        known = true;
        failures = 0;
        await wait((await answer.json()).nextHeartbeatMillis * (0.9 + Math.random() / 5));
        continue;
      }
      const why = await answer.text();
      if (answer.status === 404 && known) { // forgotten, or restarted: register again
        known = false;
        continue;
      }
      console.log(server, why);
      if (answer.status < 500 && answer.status !== 429) return; // 409: another has the place
    } catch (failure) {
      console.log(server, String(failure.cause ?? failure));
    }
    await wait(1000 * Math.min(2 ** failures++, 15));
  }
  await ask(server, "DELETE", place).catch((failure) => console.log(server, String(failure)));
}

await Promise.all(NAMESERVERS.split(" ").map(keep));
