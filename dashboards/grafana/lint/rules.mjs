// House rules for dashboards. Pure, but for promtool.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { expressionsOf, panelsOf, selectors, withoutVariables } from '../../catalogue/promql.mjs';

const kData = ['stat', 'gauge', 'table', 'timeseries', 'heatmap', 'bargauge', 'state-timeline'];
const kDatasource = /^\$\{?datasource\}?$/;
// Faults of the process itself: their totals since the start are what one wants to see.
const kTotals = /^plimsoll_agent_(permits_leaked|metrics_overflow)_total$/;

function lintFile(d, fault) {
  if (d.editable !== false) fault('dashboard-not-editable', '', 'editable must be false');
  if (!/^plimsoll-[a-z-]{1,31}$/.test(d.uid ?? '')) fault('dashboard-uid', '', 'uid must be stable, start with plimsoll- and have at most 40 characters');
  if (d.id != null) fault('dashboard-id', '', 'id must be absent; it belongs to one installation');
  if (d.__inputs || d.__requires) fault('dashboard-inputs', '', '__inputs and __requires break file provisioning');
  if (!d.title?.startsWith('Plimsoll / ')) fault('dashboard-title', '', 'title must start with "Plimsoll / "');
  if (!d.tags?.includes('plimsoll')) fault('dashboard-tag', '', 'tag plimsoll is missing');
  if (d.graphTooltip !== 1) fault('dashboard-crosshair', '', 'graphTooltip must be 1, a shared crosshair');
  if (!d.links?.some(l => l.type === 'dashboards' && l.includeVars && l.keepTime)) fault('dashboard-links', '', 'the link to the other dashboards is missing');
  if (!(d.schemaVersion >= 39)) fault('dashboard-schema', '', 'schemaVersion is below 39');
}

function lintVariables(variables, fault) {
  const sources = variables.filter(v => v.type === 'datasource');
  if (sources.length !== 1 || sources[0].name !== 'datasource') fault('template-datasource', '', 'exactly one data source variable, named datasource');
  else if (sources[0].label !== 'Data source') fault('template-datasource', '', 'label must be "Data source"');
  for (const [name, label] of [['job', 'Job'], ['instance', 'Instance']]) {
    const v = variables.find(x => x.name === name);
    if (!v) { fault(`template-${name}`, '', 'variable is missing'); continue; }
    if (v.type !== 'query' || !kDatasource.test(v.datasource?.uid)) fault(`template-${name}`, '', 'must query $datasource');
    if (v.label !== label || !v.multi || v.allValue !== '.+') fault(`template-${name}`, '', `must be multi, labelled ${label}, with allValue .+`);
  }
  for (const v of variables) if (v.type === 'query' && v.refresh !== 2) fault('template-refresh', v.name, 'refresh must be 2, on time range change');
}

function lintPanels(d, fault) {
  const ids = new Set();
  for (const p of panelsOf(d)) {
    if (p.id == null || ids.has(p.id)) fault('panel-id', p.title, 'panel ids must be present and distinct');
    ids.add(p.id);
    if (!kData.includes(p.type)) continue;
    if (!p.title || !p.description) fault('panel-text', p.title, 'title and description are required');
    if (!p.targets?.length) fault('panel-targets', p.title, 'no query');
    if (!p.fieldConfig?.defaults?.unit) fault('panel-unit', p.title, 'no unit');
    if (!kDatasource.test(p.datasource?.uid)) fault('panel-datasource', p.title, 'must use $datasource');
    if (p.type === 'timeseries' && p.fieldConfig?.defaults?.min !== 0) fault('panel-zero', p.title, 'axis must start at 0');
    const refs = (p.targets ?? []).map(t => t.refId);
    if (refs.some(r => !r) || new Set(refs).size !== refs.length) fault('target-ref', p.title, 'refIds must be present and distinct');
    for (const t of p.targets ?? []) if (!kDatasource.test(t.datasource?.uid)) fault('target-datasource', p.title, 'must use $datasource');
  }
}

function lintExpression({ place, expr }, hasControllerJob, fault) {
  for (const s of selectors(expr)) {
    const ofController = hasControllerJob && s.name.startsWith('plimsoll_controller_');
    if (!s.matchers.includes(ofController ? 'job=~"$controller_job"' : 'job=~"$job"')) fault('target-job', place, `${s.name} lacks the job matcher`);
    if (!ofController && !s.matchers.includes('instance=~"$instance"')) fault('target-instance', place, `${s.name} lacks the instance matcher`);
    if (/_(total|bucket|count|sum)$/.test(s.name) && !s.range && !kTotals.test(s.name)) fault('target-counter', place, `${s.name} is a counter and needs rate or increase`);
    if (s.range && !['rate', 'irate', 'increase', 'changes'].includes(s.func)) fault('target-counter', place, `${s.func} over a range`);
    if (s.range && s.range !== '$__rate_interval') fault('target-rate-interval', place, `${s.range} instead of $__rate_interval`);
  }
  const bare = expr.replace(/"[^"]*"/g, '');
  // Every divisor must be in parentheses that end with "> 0".
  for (const m of bare.matchAll(/\//g)) {
    const rest = bare.slice(m.index + 1).trimStart();
    let depth = 0, end = 0;
    for (; rest[0] === '(' && end < rest.length; ++end) { depth += { '(': 1, ')': -1 }[rest[end]] ?? 0; if (!depth) break; }
    if (rest[0] !== '(' || !/>\s*0\s*$/.test(rest.slice(0, end))) fault('target-division', place, 'write "/ (... > 0)", or an idle series divides by zero');
  }
}

// One run for all of them; one for each if there is a fault.
function lintSyntax(expressions, fault) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'plimsoll-lint-'));
  const file = path.join(folder, 'rules.yml');
  const run = exprs => {
    const rules = exprs.map((e, i) => ({ record: `a:b${i}`, expr: withoutVariables(e.expr) }));
    fs.writeFileSync(file, JSON.stringify({ groups: [{ name: 'lint', rules }] }));
    return spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
  };
  if (run(expressions).status !== 0)
    for (const e of expressions) {
      const r = run([e]);
      if (r.status !== 0) fault('target-promql', e.place, r.error ? String(r.error) : r.stderr.trim().split('\n').pop());
    }
  fs.rmSync(folder, { recursive: true });
}

/** @returns {{rule: string, place: string, text: string}[]} */
export function lint(d) {
  const faults = [];
  const fault = (rule, place, text) => faults.push({ rule, place: place ?? '', text });
  const variables = d.templating?.list ?? [];
  lintFile(d, fault);
  lintVariables(variables, fault);
  lintPanels(d, fault);
  const expressions = expressionsOf(d);
  const hasControllerJob = variables.some(v => v.name === 'controller_job');
  for (const e of expressions) if (e.kind !== 'variable') lintExpression(e, hasControllerJob, fault);
  lintSyntax(expressions, fault);
  return faults;
}
