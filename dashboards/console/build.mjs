// Builds the console: node build.mjs [OUTPUT_FOLDER], by default dist/. The result depends on nothing
// but the sources and the versions in package-lock.json, so that it can be compared byte by byte.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const BUDGET = 150 * 1024; // bytes of all files together, gzipped
const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, 'dist'));

async function bundle(entry, options = {}) {
  const result = await build({
    absWorkingDir: here, entryPoints: [entry], bundle: true, minify: true, write: false,
    outdir: 'out', format: 'esm', target: 'es2022', charset: 'utf8', legalComments: 'none',
    jsx: 'automatic', jsxImportSource: 'preact', define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning', ...options,
  });
  return result.outputFiles[0].text;
}

// The licences of what is bundled ask for their text to travel along.
function licences() {
  return ['preact', '@preact/signals', '@preact/signals-core', 'uplot'].map((name) => {
    const folder = join(here, 'node_modules', name);
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return `${name} ${version}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}\n`;
  }).join('\n----------------------------------------\n\n');
}

function hashed(name, text) {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 10);
  return name.replace(/(\.\w+)$/, `.${digest}$1`);
}

const sources = {
  'app.css': await bundle('src/style.css'),
  'mark.svg': readFileSync(join(here, 'src/mark.svg'), 'utf8'),
  'licences.txt': licences(),
};
const names = {};
const files = {};
for (const [name, text] of Object.entries(sources)) {
  names[name] = hashed(name, text);
  files[names[name]] = text.endsWith('\n') ? text : text + '\n';
}
const script = await bundle('src/main.tsx', {
  define: {
    'process.env.NODE_ENV': '"production"',
    LICENCES: JSON.stringify(`assets/${names['licences.txt']}`),
  },
});
names['app.js'] = hashed('app.js', script);
files[names['app.js']] = script.endsWith('\n') ? script : script + '\n';
let page = readFileSync(join(here, 'src/index.html'), 'utf8');
for (const [name, real] of Object.entries(names)) page = page.replaceAll(`assets/${name}`, `assets/${real}`);

rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, 'assets'), { recursive: true });
writeFileSync(join(out, 'index.html'), page);
let total = gzipSync(page, { level: 9 }).length;
for (const name of Object.keys(files).sort()) {
  writeFileSync(join(out, 'assets', name), files[name]);
  total += gzipSync(files[name], { level: 9 }).length;
}
console.log(`${readdirSync(join(out, 'assets')).length + 1} files, ${total} bytes gzipped`);
if (total > BUDGET) {
  console.error(`the console may have ${BUDGET} bytes, gzipped`);
  process.exit(1);
}
