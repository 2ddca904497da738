// Changes every threshold and every `for` of the alerts, one at a time, by a factor in each direction: the unit tests must
// notice at least one of them. Usage: node mutate.mjs
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const rules = fs.readFileSync(path.join(here, 'plimsoll.rules.yml'), 'utf8');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'plimsoll-rules-'));
fs.copyFileSync(path.join(here, 'test.yml'), path.join(folder, 'test.yml'));

function passes(text) {
  fs.writeFileSync(path.join(folder, 'plimsoll.rules.yml'), text);
  return spawnSync('promtool', ['test', 'rules', 'test.yml'], { cwd: folder, encoding: 'utf8' }).status === 0;
}

const scaled = (number, factor) => String(Math.round(number * factor * 1000) / 1000);
const kTimes = [10, 0.1];

let count = 0, missed = 0;
const blocks = rules.split(/(?=^ +- alert: )/m);
blocks.forEach((block, i) => {
  const name = /- alert: (\S+)/.exec(block)?.[1];
  if (!name) return;
  const end = block.indexOf('annotations:');
  const head = block.slice(0, end);
  const edits = [];
  const numbers = [...head.matchAll(/(?<=[<>=]=? )(\d+(?:\.\d+)?)(?![\w.])/g)];
  for (const m of numbers) {
    // 0 and 1 are no amounts: they become the other, or far too much.
    const others = /^[01]$/.test(m[1]) ? [String(1 - m[1]), '1000'] : kTimes.map(f => scaled(Number(m[1]), f));
    edits.push(others.map(n => head.slice(0, m.index) + n + head.slice(m.index + m[1].length)));
  }
  const wait = /for: (\d+)([smh])/.exec(head);
  if (wait) edits.push(['0s', scaled(wait[1], 20) + wait[2]].map(w => head.replace(wait[0], `for: ${w}`)));
  for (const variants of edits) {
    count++;
    const noticed = variants.some(v => !passes([...blocks.slice(0, i), v + block.slice(end), ...blocks.slice(i + 1)].join('')));
    if (!noticed) { missed++; console.log(`${name}: no test notices ${variants[0].trim().split('\n').map(l => l.trim()).join(' ')}`); }
  }
});
if (!passes(rules)) { console.log('the rules themselves fail'); missed++; }
fs.rmSync(folder, { recursive: true });
console.log(`${count - missed} of ${count} thresholds and durations are held by a test`);
process.exit(missed ? 1 : 0);
