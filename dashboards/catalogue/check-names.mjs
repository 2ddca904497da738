// Every metric, label and fixed label value that dashboards and rules use must be exported by the programs.
// Usage: node check-names.mjs BIN_DIR RULES.yml DASHBOARD.json...
import fs from 'node:fs';
import path from 'node:path';
import { readCatalogue, seriesNames } from './catalogue.mjs';
import { expressionsOf, labelsOf, matchersOf, rulesOf, selectors } from './promql.mjs';

const [bin, rulesFile, ...dashboards] = process.argv.slice(2);
const known = seriesNames(readCatalogue(bin));
const kCommon = new Set(['job', 'instance', 'le']); // of Prometheus
const kExternal = new Set(['up']);
const faults = [];
const used = new Set();

function checkSelector(where, s, metric) {
  for (const { label, op, value } of matchersOf(s.matchers)) {
    if (kCommon.has(label)) continue;
    if (!(label in metric.labels)) { faults.push(`${where}: ${s.name} has no label ${label}`); continue; }
    const values = metric.labels[label];
    if (values && (op === '=' || op === '!=') && !values.includes(value)) faults.push(`${where}: ${label}="${value}" is not one of ${values}`);
  }
}

function check(where, expr, legend, recorded) {
  const allowed = new Set(kCommon);
  for (const s of selectors(expr)) {
    if (recorded.has(s.name)) { allowed.add('dependency'); continue; }
    const metric = known.get(s.name);
    if (!metric) { if (!kExternal.has(s.name)) faults.push(`${where}: unknown metric ${s.name}`); continue; }
    used.add(metric.name);
    for (const l of Object.keys(metric.labels)) allowed.add(l);
    checkSelector(where, s, metric);
  }
  const shown = [...legend.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(m => m[1]);
  for (const l of [...labelsOf(expr), ...shown]) if (!allowed.has(l)) faults.push(`${where}: unknown label ${l}`);
}

const rules = rulesOf(fs.readFileSync(rulesFile, 'utf8'));
const recorded = new Set(rules.filter(r => r.kind === 'record').map(r => r.name));
for (const r of rules) check(`${path.basename(rulesFile)}: ${r.name}`, r.expr, '', recorded);
for (const file of dashboards)
  for (const e of expressionsOf(JSON.parse(fs.readFileSync(file, 'utf8')))) check(`${path.basename(file)}: ${e.place}`, e.expr, e.legend, new Set());

const all = new Set([...known.values()].map(m => m.name));
const unused = [...all].filter(n => !used.has(n));
console.log(faults.length ? faults.join('\n') : `names ok: ${used.size} of ${all.size} metrics in use`);
if (unused.length) console.log(`not shown anywhere: ${unused.join(', ')}`);
process.exit(faults.length ? 1 : 0);
