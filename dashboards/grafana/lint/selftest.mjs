// Breaks a good dashboard in one way after the other: each rule must find its fault, and nobody else's file must have one.
// Usage: node selftest.mjs DASHBOARD.json
import fs from 'node:fs';
import { panelsOf } from '../../catalogue/promql.mjs';
import { lint } from './rules.mjs';

const good = fs.readFileSync(process.argv[2], 'utf8');
const panel = (d, type = 'timeseries') => panelsOf(d).find(p => p.type === type);
const variable = (d, name) => d.templating.list.find(v => v.name === name);
const edit = (from, to) => d => { const t = panel(d).targets[0]; if (!t.expr.includes(from)) throw new Error(`no ${from} in ${t.expr}`); t.expr = t.expr.replaceAll(from, to); };
const set = expr => d => { panel(d).targets[0].expr = expr; };
const kAgent = 'job=~"$job", instance=~"$instance"';

const kBreaks = [
  ['dashboard-not-editable', d => { d.editable = true; }],
  ['dashboard-uid', d => { d.uid = 'x'; }],
  ['dashboard-id', d => { d.id = 7; }],
  ['dashboard-inputs', d => { d.__inputs = []; }],
  ['dashboard-title', d => { d.title = 'Overview'; }],
  ['dashboard-tag', d => { d.tags = []; }],
  ['dashboard-crosshair', d => { d.graphTooltip = 0; }],
  ['dashboard-links', d => { d.links = []; }],
  ['dashboard-schema', d => { d.schemaVersion = 16; }],
  ['template-datasource', d => { variable(d, 'datasource').name = 'ds'; }],
  ['template-job', d => { variable(d, 'job').multi = false; }],
  ['template-instance', d => { variable(d, 'instance').allValue = '.*'; }],
  ['template-refresh', d => { variable(d, 'job').refresh = 1; }],
  ['panel-id', d => { panelsOf(d)[1].id = panelsOf(d)[0].id; }],
  ['panel-text', d => { panel(d).description = ''; }],
  ['panel-targets', d => { panel(d, 'stat').targets = []; }],
  ['panel-unit', d => { delete panel(d).fieldConfig.defaults.unit; }],
  ['panel-datasource', d => { panel(d).datasource.uid = 'prom'; }],
  ['panel-zero', d => { delete panel(d).fieldConfig.defaults.min; }],
  ['target-ref', d => { delete panel(d).targets[0].refId; }],
  ['target-datasource', d => { panel(d).targets[0].datasource.uid = 'prom'; }],
  ['target-job', edit('job=~"$job", ', '')],
  ['target-instance', edit('instance=~"$instance", ', '')],
  ['target-counter', set(`sum(plimsoll_agent_admitted_total{${kAgent}})`)],
  ['target-rate-interval', set(`sum(rate(plimsoll_agent_admitted_total{${kAgent}}[5m]))`)],
  ['target-division', set(`sum(up{${kAgent}}) / sum(up{${kAgent}})`)],
  ['target-division', set(`sum(up{${kAgent}}) / (sum(up{${kAgent}}))`)],
  ['target-promql', set(`sum(up{${kAgent}}`)],
];

let bad = 0;
for (const f of lint(JSON.parse(good))) { console.log(`the good one: ${f.rule}: ${f.text}`); bad++; }
for (const [rule, spoil] of kBreaks) {
  const d = JSON.parse(good);
  spoil(d);
  if (lint(d).some(f => f.rule === rule)) continue;
  console.log(`${rule}: not found in ${spoil}`);
  bad++;
}
console.log(`${kBreaks.length - bad} of ${kBreaks.length} broken dashboards were found`);
process.exit(bad ? 1 : 0);
