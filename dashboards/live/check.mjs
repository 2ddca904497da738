// Every expression of dashboards and rules against a Prometheus that scrapes a controller and a fleet: no panel is empty,
// both sides export what they declare and nothing else, and the promise on quotas holds.
// Usage: node check.mjs BIN_DIR [--seconds N]        exit status 77: a tool is missing
import fs from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { readCatalogue } from '../catalogue/catalogue.mjs';
import { expressionsOf, rulesOf, withoutVariables } from '../catalogue/promql.mjs';
import { has, query, sleep, startFleet, startPrometheus, withProcesses } from './processes.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const bin = process.argv[2];
const seconds = Number(process.argv[process.argv.indexOf('--seconds') + 1]) || 70;
const kPeriod = 16; // of the fleet's story, so that all of it happens within the time
const kWindow = '10s';
const json = path.join(here, '../grafana/json');
const rulesFile = path.join(here, '../prometheus/plimsoll.rules.yml');
// What a healthy fleet cannot show; each with its reason.
const kMayBeMissing = new Map([
  ['plimsoll_controller_baseline_latency_seconds', 'not before a law has one'],
  ['plimsoll_controller_shard_has_leader', 'only with state.etcd.shards above 1'],
]);

for (const tool of ['prometheus', 'promtool'])
  if (!has(tool)) { console.log(`skipped: there is no ${tool}; install the Debian package prometheus`); process.exit(77); }

const faults = [];

function questions() {
  const all = [];
  for (const file of fs.readdirSync(json))
    for (const e of expressionsOf(JSON.parse(fs.readFileSync(path.join(json, file), 'utf8'))))
      all.push({ where: `${file}: ${e.place}`, expr: withoutVariables(e.expr, '.+', kWindow), mayBeEmpty: e.kind === 'annotation' });
  for (const r of rulesOf(fs.readFileSync(rulesFile, 'utf8')))
    all.push({ where: `plimsoll.rules.yml: ${r.name}`, expr: r.expr.replace(/\[5m\]/g, `[${kWindow}]`), mayBeEmpty: r.kind === 'alert' });
  return all;
}

/** Asks until each has had an answer, or the time is over. */
async function askAll(base, end) {
  const began = Date.now();
  let open = questions();
  const count = open.length;
  for (;;) {
    const still = [];
    for (const q of open) {
      const now = Date.now() / 1000;
      try {
        const answer = await query(base, 'query_range', { query: q.expr, start: now - 30, end: now, step: 1 });
        if (!answer.length && !q.mayBeEmpty) still.push(q);
      } catch (e) { faults.push(`${q.where}: ${e.message}: ${q.expr}`); }
    }
    open = still;
    if (!open.length || Date.now() > end) break;
    await sleep(1000);
  }
  for (const q of open) faults.push(`${q.where}: empty: ${q.expr}`);
  console.log(`${count} expressions asked, ${open.length} empty, after ${Math.round((Date.now() - began) / 1000)} s`);
}

/** Style by promtool; names and types by the catalogue. */
async function checkPage(what, target, metrics) {
  const page = await (await fetch(`http://${target}/metrics`)).text();
  const style = spawnSync('promtool', ['check', 'metrics'], { input: page, encoding: 'utf8' });
  if (style.status !== 0) faults.push(`${what}: promtool: ${style.stdout}${style.stderr}`);
  const types = new Map([...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(m => [m[1], m[2]]));
  for (const m of metrics) {
    if (!types.has(m.name)) { if (!kMayBeMissing.has(m.name)) faults.push(`${what}: ${m.name} is declared and not exported`); }
    else if (types.get(m.name) !== m.type) faults.push(`${what}: ${m.name} is a ${types.get(m.name)}`);
  }
  for (const name of types.keys()) if (!metrics.some(m => m.name === name)) faults.push(`${what}: ${name} is exported and not declared`);
  console.log(`${what}: ${types.size} of ${metrics.length} declared families, promtool ${style.status === 0 ? 'content' : 'not content'}`);
}

async function checkPromise(base) {
  const over = await query(base, 'query', { query: `max_over_time((max by (dependency) (plimsoll_controller_quota_reserved)
    - max by (dependency) (plimsoll_controller_quota_capacity) - max by (dependency) (plimsoll_controller_quota_draining))[1h:1s])` });
  if (!over.length) faults.push('nothing is known of quotas');
  for (const r of over) if (Number(r.value[1]) > 0) faults.push(`the quota of ${r.metric.dependency} was exceeded by ${r.value[1]}`);
}

/** At 3 a.m. each command must exist: the controller answers what the runbooks ask. */
async function checkRunbooks(controller) {
  const folder = path.join(here, '../prometheus/runbooks');
  const asked = new Set();
  for (const file of fs.readdirSync(folder))
    for (const [, address] of fs.readFileSync(path.join(folder, file), 'utf8').matchAll(/curl -s "\$C(\/[^"]*)"/g)) {
      const route = address.replace('$D', 'payments-db');
      if (asked.has(route)) continue;
      asked.add(route);
      const answer = await fetch(`http://${controller}${route}`);
      if (!answer.ok) faults.push(`${file}: ${address}: ${answer.status} ${await answer.text()}`);
    }
  console.log(`${asked.size} addresses of runbooks answered`);
}

await withProcesses(async folder => {
  const end = Date.now() + 1000 * seconds;
  const fleet = await startFleet(bin, folder, kPeriod, 4);
  const base = await startPrometheus(folder, rulesFile);
  await askAll(base, end);
  const catalogue = readCatalogue(bin);
  await checkPage('controller', fleet.controller, catalogue.controller);
  await checkPage('agent', fleet.agents[0], catalogue.agent);
  await checkPromise(base);
  await checkRunbooks(fleet.controller);
  if (!fleet.running()) faults.push('the fleet has ended by itself');
});
for (const f of faults) console.log(f);
process.exit(faults.length ? 1 : 0);
