// Chromium with what every test watches: the console, errors of the page, requests that
// failed, and reports of the content security policy.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import { within } from './wait.mjs';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// What this kind of machine needs, and what keeps the browser to itself.
const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export class Browser {
  static async open(o = {}) {
    const b = new Browser();
    b.dir = mkdtempSync(path.join(tmpdir(), 'chromium-'));
    b.complaints = [];
    b.requests = [];
    b.context = await chromium.launchPersistentContext(b.dir, {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, args: [...flags, ...(o.args ?? [])],
      viewport: o.viewport ?? { width: 1280, height: 800 }, locale: o.locale ?? 'en-US', colorScheme: o.colorScheme ?? 'light', timezoneId: 'Asia/Shanghai',
      deviceScaleFactor: o.deviceScaleFactor ?? 1, reducedMotion: o.reducedMotion,
    });
    b.page = b.context.pages()[0] ?? await b.context.newPage();
    await b.context.addInitScript(() => {
      globalThis.policyReports = [];
      document.addEventListener('securitypolicyviolation', (e) => globalThis.policyReports.push(`${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
    });
    b.page.on('console', (m) => { if (m.type() === 'error' || m.type() === 'warning') b.complaints.push(`${m.type()}: ${m.text()} (${m.location().url})`); });
    b.page.on('pageerror', (e) => b.complaints.push('error of the page: ' + e.stack));
    b.page.on('request', (r) => b.requests.push(r.url()));
    b.page.setDefaultTimeout(30_000);
    // That does not hold for what a page is asked in its own words: one that waits in vain
    // would be waited for until the whole run is stopped, and nobody would know for what.
    const evaluate = b.page.evaluate.bind(b.page);
    b.page.evaluate = (...args) => within(120_000, 'the page to answer', evaluate(...args));
    return b;
  }

  /** Opens a view in the running page, or loads the page if it is not there yet. */
  async show(server, hash) {
    const url = server.base + '/ui/' + hash;
    if (this.page.url().startsWith(server.base + '/ui/')) await this.page.evaluate((h) => { location.hash = h; }, hash);
    else await this.page.goto(url);
    await this.settled();
  }

  /** Waits until the view stands and nothing is being loaded. */
  async settled() {
    await this.page.waitForFunction(() => document.querySelector('main h1') && !document.querySelector('main .skeleton'));
  }

  async signIn(server) {
    const res = await this.context.request.post(server.base + '/api/v1/session', { data: { token: server.token } });
    assert.ok(res.ok(), `sign in: ${res.status()}`);
  }

  /** What accessibility rules are broken on the page as it stands. */
  async axe() {
    if (!await this.page.evaluate(() => 'axe' in globalThis)) await this.page.evaluate(axeSource);
    const found = await this.page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
    return found.violations.map((v) => `${v.id}: ${v.help}\n    ${v.nodes.slice(0, 3).map((n) => n.target.join(' ') + ' ' + n.failureSummary.replace(/\s+/g, ' ').slice(0, 200)).join('\n    ')}`);
  }

  /** Nothing was said on the console and nothing was blocked since the last time. */
  async quiet(what, allowed = /$^/) {
    const reports = await this.page.evaluate(() => globalThis.policyReports.splice(0));
    assert.deepEqual(reports, [], what + ': reports of the policy');
    assert.deepEqual(this.complaints.splice(0).filter((c) => !allowed.test(c)), [], what + ': the console');
  }

  /** The store's content. The page's own module is asked, not a copy. */
  dump() {
    return this.page.evaluate(async () => {
      const { $ } = await import(document.querySelector('script[type=module]').src);
      return $['lib/live.js'].store.dump();
    });
  }

  async close() {
    await this.context.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
