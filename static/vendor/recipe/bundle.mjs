// Bundles the pinned packages into ../preact.js, puts their licences
// beside them and writes the checksums that the Go test of package static compares.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';

const version = (name) => JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')).version;
const bundles = [
  { file: 'preact.js', entry: 'preact.entry.js', of: ['preact', '@preact/signals', '@preact/signals-core', 'htm'] },
];
const licences = { preact: 'preact', '@preact/signals': 'preact-signals', htm: 'htm' };

for (const b of bundles) {
  const names = b.of.map((n) => `${n} ${version(n)}`).join(', ');
  await build({
    entryPoints: [b.entry], outfile: `../${b.file}`, bundle: true, format: 'esm', minify: true, target: 'es2022',
    legalComments: 'none', banner: { js: `// ${names}. Licences beside this file; made by recipe/bundle.mjs.` },
  });
}
for (const [name, file] of Object.entries(licences)) copyFileSync(`node_modules/${name}/LICENSE`, `../LICENSE-${file}.txt`);

const sums = [...bundles.map((b) => b.file), ...Object.values(licences).map((f) => `LICENSE-${f}.txt`)].sort()
  .map((f) => `${createHash('sha256').update(readFileSync(`../${f}`)).digest('hex')}  ${f}\n`).join('');
writeFileSync('../SHA256SUMS', sums);
