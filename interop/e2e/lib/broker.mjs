// A broker as far as a NameServer can see: it registers over the remoting protocol, sends
// heartbeats, and leaves. Written for tests of the dashboard; it moves no messages.
import net from 'node:net';
import zlib from 'node:zlib';
import { within } from './wait.mjs';

const codes = { registerBroker: 103, route: 105, unregisterBroker: 104, declareTopic: 217, heartbeat: 904 };
const v5_5_0 = 513; // the version number of its headers

export class Broker {
  #socket = null;
  #opaque = 0;
  #waiting = new Map();
  #buffer = Buffer.alloc(0);
  #timer = null;

  /**
   * @param {string} nameserver host:port
   * @param {{cluster: string, name: string, id?: number, addr?: string, zone?: string, acting?: boolean, timeoutMillis?: number}} o
   */
  constructor(nameserver, o) {
    Object.assign(this, { nameserver, id: 0, addr: '127.0.0.1:10911', counter: 1, topics: {} }, o);
  }

  connect() {
    const [host, port] = this.nameserver.split(':');
    this.#socket = net.connect({ host, port: Number(port) });
    this.#socket.on('data', (d) => this.#read(d));
    this.#socket.on('close', () => {
      for (const w of this.#waiting.values()) w.reject(new Error('the NameServer closed the connection'));
      this.#waiting.clear();
    });
    return new Promise((resolve, reject) => {
      this.#socket.once('connect', resolve);
      this.#socket.on('error', reject);
    });
  }

  #read(data) {
    this.#buffer = this.#buffer.length ? Buffer.concat([this.#buffer, data]) : data;
    while (this.#buffer.length >= 4) {
      const total = this.#buffer.readInt32BE(0);
      if (this.#buffer.length < 4 + total) return;
      const frame = this.#buffer.subarray(4, 4 + total);
      this.#buffer = this.#buffer.subarray(4 + total);
      const length = frame.readInt32BE(0) & 0xffffff;
      const header = JSON.parse(frame.subarray(4, 4 + length).toString());
      this.#waiting.get(header.opaque)?.resolve(header);
      this.#waiting.delete(header.opaque);
    }
  }

  #call(code, extFields, body = Buffer.alloc(0)) {
    const opaque = ++this.#opaque;
    const header = Buffer.from(JSON.stringify({ code, extFields, flag: 0, language: 'JAVA', opaque, serializeTypeCurrentRPC: 'JSON', version: v5_5_0 }));
    const head = Buffer.alloc(8);
    head.writeInt32BE(4 + header.length + body.length, 0);
    head.writeInt32BE(header.length, 4);
    return within(60_000, `the answer to request ${code}`, new Promise((resolve, reject) => {
      this.#waiting.set(opaque, { resolve, reject });
      this.#socket.write(Buffer.concat([head, header, body]));
    }));
  }

  #identity() {
    return { clusterName: this.cluster, brokerName: this.name, brokerAddr: this.addr, brokerId: String(this.id) };
  }

  /** Adds topics, each {name: {read, write, perm, order, type, flag}}. */
  serve(topics) {
    for (const [name, t] of Object.entries(topics)) {
      this.topics[name] = {
        attributes: t.type ? { 'message.type': t.type } : {}, order: Boolean(t.order), perm: t.perm ?? 6, readQueueNums: t.read ?? 8,
        topicFilterType: 'SINGLE_TAG', topicName: name, topicSysFlag: t.flag ?? 0, writeQueueNums: t.write ?? 8,
      };
    }
    this.counter++;
    return this;
  }

  /** Sends the whole registration; throws if the NameServer refuses. */
  async register() {
    if (!this.#socket) await this.connect();
    const body = Buffer.from(JSON.stringify({
      filterServerList: [],
      topicConfigSerializeWrapper: { dataVersion: { counter: this.counter, stateVersion: 0, timestamp: 1_764_400_000_000 }, topicConfigTable: this.topics, topicQueueMappingInfoMap: {} },
    }));
    const fields = { ...this.#identity(), haServerAddr: this.addr.replace(/\d+$/, (p) => Number(p) + 1), compressed: 'false', bodyCrc32: String(zlib.crc32(body) & 0x7fffffff) };
    if (this.timeoutMillis) fields.heartbeatTimeoutMillis = String(this.timeoutMillis);
    if (this.zone) fields.__ZONE_NAME = this.zone;
    if (this.acting !== undefined) fields.enableActingMaster = String(this.acting);
    const answer = await this.#call(codes.registerBroker, fields, body);
    if (answer.code !== 0) throw new Error(`registration of ${this.name}: ${answer.code} ${answer.remark}`);
    return answer;
  }

  heartbeat() {
    return this.#call(codes.heartbeat, this.#identity());
  }

  /** Declares a topic by itself, for this broker: one small change of the registry. */
  declare(topic, { read = 8, write = 8, perm = 6 } = {}) {
    const route = { queueDatas: [{ brokerName: this.name, readQueueNums: read, writeQueueNums: write, perm, topicSysFlag: 0 }], brokerDatas: [] };
    return this.#call(codes.declareTopic, { topic }, Buffer.from(JSON.stringify(route)));
  }

  /** Asks for a route as a client does. */
  lookup(topic) {
    return this.#call(codes.route, { topic, acceptStandardJsonOnly: 'true' });
  }

  unregister() {
    return this.#call(codes.unregisterBroker, this.#identity());
  }

  /** Sends heartbeats until it stops. */
  live(everyMillis = 10_000) {
    this.#timer = setInterval(() => this.heartbeat().catch(() => {}), everyMillis);
    this.#timer.unref();
    return this;
  }

  /** Sends no more heartbeats; the connection stays. */
  rest() {
    clearInterval(this.#timer);
  }

  /** Breaks off without a word, as a broker that dies does. */
  stop() {
    clearInterval(this.#timer);
    this.#socket?.destroy();
    this.#socket = null;
  }
}
