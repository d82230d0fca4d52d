// Contrast of the design's colours, computed from the style sheet itself.
import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const css = readFileSync(path.resolve(import.meta.dirname, '../../../static/app.css'), 'utf8');
const tokens = Object.fromEntries([...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(([, name, light, dark]) => [name, { light, dark }]));

const luminance = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
  .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
};

const text = [];
for (const ground of ['bg', 'surface', 'raised', 'sunken', 'hover']) for (const ink of ['ink', 'ink-2', 'ink-3', 'accent']) text.push([ink, ground]);
for (const s of ['ok', 'warn', 'bad', 'accent']) {
  text.push([s, s + '-tint'], [s, 'surface'], [s, 'bg']);
  for (const ink of ['ink', 'ink-2', 'ink-3']) text.push([ink, s + '-tint']);
}
text.push(['on-accent', 'accent'], ['on-sign', 'sign'], ['ink', 'mark']);
const controls = ['bg', 'surface', 'raised', 'sunken'].flatMap((g) => [['edge', g], ['focus', g]]);

for (const [pairs, least, what] of [[text, 4.5, 'text'], [controls, 3, 'edges of controls']]) {
  test(`${what} stand out by ${least} in both themes`, () => {
    for (const [on, ground] of pairs) {
      for (const theme of ['light', 'dark']) {
        const c = contrast(tokens[on][theme], tokens[ground][theme]);
        assert.ok(c >= least, `${on} on ${ground} in ${theme}: ${c.toFixed(2)}`);
      }
    }
  });
}

test('the colours of the style sheets are tokens', () => {
  for (const file of ['app.css', 'parts.css']) {
    const rules = readFileSync(path.resolve(import.meta.dirname, '../../../static', file), 'utf8').replace(/:root \{[\s\S]*?\n\}/, '');
    for (const m of rules.matchAll(/#[0-9a-f]{3,8}\b/gi)) {
      assert.match(rules.slice(Math.max(0, m.index - 60), m.index), /light-dark\(|backdrop|shadow/, `${file} has a colour of its own: ${m[0]}`);
    }
  }
});
