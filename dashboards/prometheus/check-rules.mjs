// Rules, their unit tests, the object that is generated from them, and a runbook for each alert.
// Usage: node check-rules.mjs        exit status 77: promtool is missing
import fs from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { rulesOf } from '../catalogue/promql.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const read = name => fs.readFileSync(path.join(here, name), 'utf8');
const faults = [];

function run(program, ...args) {
  const r = spawnSync(program, args, { cwd: here, encoding: 'utf8' });
  if (r.error) { console.log(`skipped: there is no ${program}; install the Debian package prometheus`); process.exit(77); }
  if (r.status !== 0) faults.push(`${program} ${args.join(' ')}:\n${r.stdout}${r.stderr}`);
}

run('promtool', 'check', 'rules', 'plimsoll.rules.yml');
run('promtool', 'test', 'rules', 'test.yml');
run(process.execPath, 'prometheusrule.mjs', '--check');

const rules = read('plimsoll.rules.yml');
const tests = read('test.yml');
const alerts = rulesOf(rules).filter(r => r.kind === 'alert').map(r => r.name);
const kSections = ['Meaning', 'Impact', 'Look at', 'Act', 'Undo'];
for (const name of new Set(alerts)) {
  if (!rules.includes(`/runbooks/${name}'`)) faults.push(`${name} names no runbook of its own`);
  const fires = [...tests.matchAll(new RegExp(`alertname: ${name}\\n\\s+exp_alerts:\\n\\s+- exp_labels`, 'g'))].length;
  if (!fires) faults.push(`no test sees ${name} fire`);
  if (!tests.includes(`alertname: ${name}, exp_alerts: []`)) faults.push(`no test sees ${name} stay silent`);
  if (!fs.existsSync(path.join(here, `runbooks/${name}.md`))) { faults.push(`${name} has no runbook`); continue; }
  const sections = [...read(`runbooks/${name}.md`).matchAll(/^## (.*)$/gm)].map(m => m[1]);
  if (sections.join() !== kSections.join()) faults.push(`runbooks/${name}.md has the sections ${sections.join(', ')}`);
}
for (const file of fs.readdirSync(path.join(here, 'runbooks')))
  if (!alerts.includes(path.basename(file, '.md'))) faults.push(`runbooks/${file} belongs to no alert`);

for (const f of faults) console.log(f);
if (!faults.length) console.log(`${new Set(alerts).size} alerts, each with a runbook and with tests that see it fire and stay silent`);
process.exit(faults.length ? 1 : 0);
