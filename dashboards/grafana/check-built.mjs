// The committed JSON is what the sources build, and the sources satisfy TypeScript.
// Usage: node check-built.mjs        exit status 77: the packages are not installed
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const program = name => path.join(here, 'node_modules/.bin', name);
const installed = () => fs.existsSync(program('tsx')) && fs.existsSync(program('tsc'));
if (!installed()) spawnSync('npm', ['ci', '--ignore-scripts', '--silent', '--no-audit', '--no-fund'], { cwd: here });
if (!installed()) {
  console.log('skipped: npm cannot install the packages of dashboards/grafana');
  process.exit(77);
}
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'plimsoll-json-'));
const faults = [];
for (const [name, ...args] of [['tsc', '--noEmit'], ['tsx', 'src/build.ts', folder]]) {
  const r = spawnSync(program(name), args, { cwd: here, encoding: 'utf8' });
  if (r.status !== 0) faults.push(`${name}: ${r.stdout}${r.stderr}`);
}
const files = dir => fs.readdirSync(dir).filter(f => f.endsWith('.json')).sort();
if (files(folder).join() !== files(path.join(here, 'json')).join()) faults.push(`built: ${files(folder)}; committed: ${files(path.join(here, 'json'))}`);
else
  for (const f of files(folder))
    if (fs.readFileSync(path.join(folder, f), 'utf8') !== fs.readFileSync(path.join(here, 'json', f), 'utf8'))
      faults.push(`json/${f} is not what src/ builds; run: make dashboards-build`);
fs.rmSync(folder, { recursive: true });
for (const f of faults) console.log(f);
process.exit(faults.length ? 1 : 0);
