import test from 'node:test';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import en from '../../../static/lang/en.js';
import zh from '../../../static/lang/zh-CN.js';
import { has, pick, rich, t, use } from '../../../static/lib/i18n.js';
import { kinds } from '../../../static/ui/events.js';
import { types } from '../../../static/lib/model.js';
import { places } from '../../../static/ui/shell.js';

const root = path.resolve(import.meta.dirname, '../../../static');
const sources = ['lib', 'ui', 'views'].flatMap((dir) => readdirSync(path.join(root, dir)).map((f) => [dir + '/' + f, readFileSync(path.join(root, dir, f), 'utf8')]));

const holes = (v) => [...new Set((typeof v === 'object' ? Object.values(v).join(' ') : v).match(/\{\w+\}/g) ?? [])].sort();

test('both languages have the same texts with the same holes', () => {
  assert.deepEqual(Object.keys(zh).sort(), Object.keys(en).sort());
  for (const key of Object.keys(en)) assert.deepEqual(holes(zh[key]), holes(en[key]), key);
});

test('counted texts have the forms of their language', () => {
  for (const [lang, texts] of [['en', en], ['zh-CN', zh]]) {
    const forms = new Intl.PluralRules(lang).resolvedOptions().pluralCategories.sort();
    for (const [key, v] of Object.entries(texts)) if (typeof v === 'object') assert.deepEqual(Object.keys(v).sort(), forms, `${lang} ${key}`);
  }
});

test('Chinese texts are Chinese', () => {
  // Names that stay as they are, by decision or because they are names.
  const latin = /^(n|gap|login\.(title|language)|nav\.(brokers|topics|api)|tile\.topics|fact\.go|source\.|face\.(remoting|rest)|col\.(id|broker|topic)|kind\.(topic|broker|kv)|broker\.tab\.topics|events\.(topic|broker)|connections\.kind\.broker|kv\.orderAdd)/;
  for (const [key, v] of Object.entries(zh)) {
    const text = typeof v === 'object' ? v.other : v;
    if (!latin.test(key) && /[a-z]/i.test(text.replace(/\{\w+\}/g, ''))) assert.match(text, /[\u4e00-\u9fff]/, key);
  }
  for (const [key, v] of Object.entries(en)) if (key !== 'login.language') assert.doesNotMatch(typeof v === 'object' ? v.other : v, /[\u4e00-\u9fff]/, key);
});

test('every text that a module asks for exists, and every text is asked for', () => {
  const used = new Set();
  const prefixes = new Set();
  for (const [file, text] of sources) {
    for (const m of text.matchAll(/(?<![.\w])(?:t|rich|has)\('([^']+)'(\s*\+)?/g)) {
      if (m[2]) prefixes.add(m[1]);
      else {
        used.add(m[1]);
        assert.ok(m[1] in en, `${file} asks for ${m[1]}`);
      }
    }
    for (const m of text.matchAll(/'((?:problem|col|change)\.[\w.]+)'/g)) {
      used.add(m[1]);
      assert.ok(m[1] in en, `${file} names ${m[1]}`);
    }
  }
  // Keys that are put together of a prefix and a word.
  const built = [...prefixes, 'change.', 'word.', 'problem.'];
  for (const key of Object.keys(en)) assert.ok(used.has(key) || built.some((p) => key.startsWith(p)), `nobody asks for ${key}`);
});

test('words that come from the server have a text', () => {
  use('en', en);
  for (const k of kinds) assert.ok(has('kind.' + k), k);
  for (const x of types) assert.ok(has('type.' + x), x);
  for (const p of places) assert.ok(has('nav.' + p.id), p.id);
  for (const op of ['created', 'changed', 'deleted', 'expired', 'disconnected', 'rejected', 'ownerChanged', 'wiped', 'restored', 'diverged', 'converged', 'started', 'stopping']) assert.ok(has('op.' + op), op);
  for (const r of ['not-in-last-registration', 'broker-unknown', 'no-master', 'read-only-everywhere']) assert.ok(has('stale.' + r), r);
  for (const k of ['name-in-two-clusters', 'place-contested', 'address-contested', 'registration-refused', 'removal-refused']) assert.ok(has('conflicts.' + k) && has(`conflicts.${k}.text`) && has(`conflicts.${k}.do`) && has('problem.' + k), k);
  for (const s of ['default', 'file', 'env', 'flag', 'runtime']) assert.ok(has('config.from.' + s), s);
  for (const r of ['none', 'viewer', 'registrar', 'admin']) assert.ok(has('role.' + r) && has(`role.${r}.text`), r);
  for (const m of ['anonymous', 'token', 'basic', 'certificate', 'session']) assert.ok(has('method.' + m), m);
});

test('plurals and numbers follow the language', () => {
  use('en', en);
  assert.equal(t('overview.topics', { n: 1 }), '1 topic');
  assert.equal(t('overview.topics', { n: 8214 }), '8,214 topics');
  use('zh-CN', zh);
  assert.equal(t('overview.topics', { n: 8214 }), '8,214 个 Topic');
  assert.deepEqual(rich('confirm.type', { name: { drawn: true } }), ['输入 ', { drawn: true }, ' 以继续']);
  assert.equal(t('no.such.key'), 'no.such.key');
});

test('the language is what was asked for, then what the browser likes', () => {
  assert.equal(pick(['zh', 'en']), 'zh-CN');
  assert.equal(pick([undefined, null, 'zh-Hant-TW']), 'zh-CN');
  assert.equal(pick(['fr', 'de', 'en-GB', 'zh']), 'en');
  assert.equal(pick(['fr']), 'en');
});

test('one is written as one', () => {
  use('en', en);
  const one = { n: 1, write: 1, read: 1, sets: 1, members: 1 };
  for (const key of ['topic.sums', 'clusters.counts', 'broker.wiped']) assert.doesNotMatch(t(key, one), /\b1 (\w+ )?\w{3,}s\b/, key);
});
