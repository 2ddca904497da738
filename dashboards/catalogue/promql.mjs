// Finds the vector selectors of a PromQL expression. Good enough for linting; promtool does the real parsing.
const kWords = new Set(['and', 'or', 'unless', 'bool', 'offset', 'atan2', 'inf', 'nan', 'Inf', 'NaN']);
const kGrouping = /\b(by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;

/** @returns {{name: string, matchers: string, func: string|null, range: string|null}[]} */
export function selectors(expr) {
  const e = expr.replace(kGrouping, ' ');
  const found = [];
  for (const m of e.matchAll(/(?<![$\w])([a-zA-Z_:][\w:]*)\b(?!\s*\()\s*(\{[^}]*\})?\s*(\[[^\]]*\])?/g)) {
    if (kWords.has(m[1])) continue;
    const func = /(\w+)\s*\(\s*$/.exec(e.slice(0, m.index));
    found.push({ name: m[1], matchers: m[2]?.slice(1, -1) ?? '', func: func?.[1] ?? null, range: m[3]?.slice(1, -1) ?? null });
  }
  return found;
}

/** @returns {{label: string, op: string, value: string}[]} */
export const matchersOf = text =>
  [...text.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)].map(([, label, op, value]) => ({ label, op, value }));

/** Label names that the expression mentions, in matchers and in grouping clauses. */
export function labelsOf(expr) {
  const names = new Set();
  for (const m of expr.matchAll(kGrouping)) for (const l of m[2].split(',')) if (l.trim()) names.add(l.trim());
  for (const s of selectors(expr)) for (const m of matchersOf(s.matchers)) names.add(m.label);
  return names;
}

/** Replaces Grafana's variables: intervals by `window`, the others by `value`. */
export const withoutVariables = (expr, value = 'x', window = '5m') =>
  expr.replace(/\$\{?__(rate_interval|interval|range)\}?/g, window).replace(/\$\{?\w+(:\w+)?\}?/g, value);

export const panelsOf = dashboard =>
  dashboard.panels.flatMap(p => [p, ...(p.panels ?? [])]).filter(p => p.type !== 'row');

/** All expressions of a dashboard with a place for messages: panels, annotations, query variables. */
export function expressionsOf(d) {
  const all = [];
  for (const p of panelsOf(d))
    for (const t of p.targets ?? []) all.push({ kind: 'panel', place: `${p.title}/${t.refId}`, legend: t.legendFormat ?? '', expr: t.expr });
  for (const a of d.annotations?.list ?? []) if (a.expr) all.push({ kind: 'annotation', place: `annotation ${a.name}`, legend: a.titleFormat ?? '', expr: a.expr });
  for (const v of d.templating?.list ?? []) {
    const m = /^label_values\((.*),\s*\w+\)$/.exec(v.type === 'query' ? v.query : '');
    if (m) all.push({ kind: 'variable', place: `variable ${v.name}`, legend: '', expr: m[1] });
  }
  return all;
}

/** Rules of a file that is flat enough for a line reader: `- record:` or `- alert:`, and `expr:` with an optional block below it. */
export function rulesOf(text) {
  const rules = [];
  let open = null;
  for (const line of text.split('\n')) {
    const name = /^\s*- (record|alert):\s*(\S+)/.exec(line);
    if (name) { open = { kind: name[1], name: name[2], expr: '', indent: -1 }; rules.push(open); continue; }
    const expr = /^(\s*)expr:\s*(.*)$/.exec(line);
    if (expr && open) {
      const block = expr[2] === '|';
      open.expr = block ? '' : expr[2]; open.indent = block ? expr[1].length : -1;
      continue;
    }
    if (open && open.indent >= 0 && line.search(/\S/) > open.indent) open.expr += ' ' + line.trim();
    else if (open) open.indent = -1;
  }
  return rules;
}
