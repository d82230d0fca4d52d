// The real program, started on free ports with folders of its own.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { within } from './wait.mjs';

const binary = process.env.FINGERPOST ?? path.resolve(import.meta.dirname, '../../../bin/fingerpost');

export class Server {
  /** @param {{flags?: string[], httpPort?: number, remotingPort?: number, dir?: string}} [o] ports of an earlier run, to come back on them */
  static async start(o = {}) {
    const s = new Server();
    s.dir = o.dir ?? mkdtempSync(path.join(tmpdir(), 'fingerpost-e2e-'));
    s.lines = [];
    s.process = spawn(binary, ['--bind-address', '127.0.0.1', '--listen-port', String(o.remotingPort ?? 0), '--http-listen', '127.0.0.1:' + (o.httpPort ?? 0),
      '--data-dir', s.dir, '--kv-config-path', path.join(s.dir, 'kv.json'), '--config-store-path', path.join(s.dir, 'namesrv.properties'), '--log-format', 'json', ...(o.flags ?? [])],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: process.env.PATH, HOME: s.dir } });
    const ready = new Promise((resolve, reject) => {
      s.process.on('exit', (code) => reject(new Error(`the server ended with ${code}:\n${s.lines.join('\n')}`)));
      createInterface({ input: s.process.stderr }).on('line', (line) => {
        s.lines.push(line);
        const entry = line.startsWith('{') ? JSON.parse(line) : {};
        if (entry.msg === 'serving') resolve(entry);
      });
    });
    ready.catch(() => {});
    const serving = await within(60_000, 'the server to serve', ready);
    s.remoting = serving.remoting;
    s.base = 'http://' + serving.http;
    try {
      s.token = readFileSync(path.join(s.dir, 'admin-token'), 'utf8').trim();
    } catch {
      s.token = ''; // other credentials were given
    }
    return s;
  }

  /** Calls the API as an admin; returns the body, throws on anything but success. */
  async call(method, address, body, headers = {}) {
    const res = await fetch(this.base + '/api/v1/' + address, {
      method, headers: { ...(this.token && { Authorization: 'Bearer ' + this.token }), ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body), signal: AbortSignal.timeout(60_000),
    });
    const text = await res.text();
    if (!res.ok) throw new Error(`${method} ${address}: ${res.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  /** The content as the page's store dumps it. */
  async dump() {
    const lines = [];
    const { items: sets } = await this.call('GET', 'brokers?limit=10000');
    for (const s of sets) for (const m of s.members) lines.push(`member ${m.clusterName} ${m.brokerName} ${m.brokerId} ${m.brokerAddr}`);
    let after = '';
    do {
      const page = await this.call('GET', 'routes?match=*&actingMaster=off&limit=5000' + (after && '&after=' + encodeURIComponent(after)));
      for (const r of page.items) for (const q of r.route.queueDatas) lines.push(`queue ${r.topic} ${q.brokerName} ${q.readQueueNums} ${q.writeQueueNums} ${q.perm} ${q.topicSysFlag}`);
      after = page.next;
    } while (after);
    return lines.sort();
  }

  get ports() {
    return { remotingPort: Number(this.remoting.split(':').pop()), httpPort: Number(this.base.split(':').pop()) };
  }

  /** Ends the process; its folder stays for another start unless it is the last. */
  async stop({ keep = false, signal = 'SIGTERM' } = {}) {
    if (this.process.exitCode === null) {
      const gone = new Promise((resolve) => this.process.once('exit', resolve));
      this.process.kill(signal);
      await within(60_000, 'the server to end', gone);
    }
    if (!keep) rmSync(this.dir, { recursive: true, force: true });
  }
}
