// What a controller costs, by the number of its agents: runs agent_plane_load for each of them, and
// prints a table (Markdown) and draws a plot (SVG). README.md tells how to read the figures.
//
//   node tests/bench/cost_curve.mjs [--bin build/release/bin] [--agents 100,300,1000,3000,10000]
//     [--seconds 15] [--out FILE.svg] [-- OPTIONS OF agent_plane_load]
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const usage =
  'usage: cost_curve.mjs [--bin FOLDER] [--agents N,N,...] [--seconds S] [--out FILE.svg] [-- OPTIONS]';

function readOptions(words) {
  const options = { bin: 'build/release/bin', agents: '100,300,1000,3000,10000', seconds: '15', out: '' };
  const end = words.indexOf('--');
  const own = end < 0 ? words : words.slice(0, end);
  for (let i = 0; i < own.length; i += 2) {
    const name = own[i].replace(/^--/, '');
    if (!own[i].startsWith('--') || !(name in options) || own[i + 1] === undefined) {
      console.error(usage);
      process.exit(2);
    }
    options[name] = own[i + 1];
  }
  return { ...options, agents: options.agents.split(',').map(Number), rest: end < 0 ? [] : words.slice(end + 1) };
}

function measure(options, agents) {
  const words = ['--agents', `${agents}`, '--seconds', options.seconds, '--json', ...options.rest];
  const run = spawnSync(`${options.bin}/agent_plane_load`, words, { encoding: 'utf8' });
  if (!run.stdout) throw new Error(`agent_plane_load ${words.join(' ')}: ${run.error ?? run.stderr}`);
  if (run.status !== 0) console.error(run.stderr.trim());
  return JSON.parse(run.stdout);
}

const columns = [
  ['agents', (f) => f.agents],
  ['reports/s', (f) => Math.round(f.reports / f['seconds measured'])],
  ['CPU per 1,000 reports, s', (f) => f['CPU per 1,000 reports, s'].toFixed(3)],
  ['cores', (f) => f['CPU, cores'].toFixed(2)],
  ['answer p50, ms', (f) => f['answer beyond the hold, p50, ms'].toFixed(2)],
  ['p99, ms', (f) => f['answer beyond the hold, p99, ms'].toFixed(1)],
  ['resident, MiB', (f) => f['resident, highest, MiB'].toFixed(1)],
  ['KiB per agent', (f) => (((f['resident, highest, MiB'] - f['resident without agents, MiB']) * 1024) / f.agents).toFixed(1)],
  ['failures', (f) => f.failures],
];

const row = (cells) => `| ${cells.join(' | ')} |`;

function table(all) {
  const lines = [row(columns.map(([name]) => name)), row(columns.map(() => '---:'))];
  for (const facts of all) lines.push(row(columns.map(([, value]) => value(facts))));
  return lines.join('\n');
}

// One panel: both axes are logarithmic, so what grows with the agents is a straight line.
function panel(x, title, unit, budget, points) {
  const [width, height, left, top] = [250, 190, 46, 34];
  const decades = (values) => [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
  const [xa, xb] = decades(points.map(([n]) => n));
  const [ya, yb] = decades([...points.map(([, v]) => Math.max(v, 1e-3)), budget]);
  const px = (n) => x + left + ((Math.log10(n) - xa) / Math.max(1, xb - xa)) * width;
  const py = (v) => top + height - ((Math.log10(Math.max(v, 1e-3)) - ya) / Math.max(1, yb - ya)) * height;
  const text = (tx, ty, anchor, words) => `<text x="${tx.toFixed(1)}" y="${ty.toFixed(1)}" text-anchor="${anchor}">${words}</text>`;
  const line = (x1, y1, x2, y2, style) => `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" ${style}/>`;
  const parts = [text(x + left, top - 14, 'start', `${title}, ${unit}`)];
  for (let d = xa; d <= xb; ++d) {
    parts.push(line(px(10 ** d), top, px(10 ** d), top + height, 'stroke="#ddd"'));
    parts.push(text(px(10 ** d), top + height + 16, 'middle', (10 ** d).toLocaleString('en')));
  }
  for (let d = ya; d <= yb; ++d) {
    parts.push(line(x + left, py(10 ** d), x + left + width, py(10 ** d), 'stroke="#ddd"'));
    parts.push(text(x + left - 6, py(10 ** d) + 4, 'end', `${10 ** d < 1 ? (10 ** d).toFixed(-d) : 10 ** d}`));
  }
  parts.push(line(x + left, py(budget), x + left + width, py(budget), 'stroke="#c33" stroke-dasharray="5 4"'));
  parts.push(text(x + left + 4, py(budget) - 5, 'start', `budget ${budget} ${unit}`));
  parts.push(`<polyline fill="none" stroke="#16c" stroke-width="2" points="${points.map(([n, v]) => `${px(n).toFixed(1)},${py(v).toFixed(1)}`).join(' ')}"/>`);
  for (const [n, v] of points) parts.push(`<circle cx="${px(n).toFixed(1)}" cy="${py(v).toFixed(1)}" r="3" fill="#16c"/>`);
  return parts.join('\n');
}

function plot(all) {
  const series = (value) => all.map((facts) => [facts.agents, value(facts)]);
  const panels = [
    panel(0, 'CPU', 'cores', 1, series((f) => f['CPU, cores'])),
    panel(320, 'answer, p99', 'ms', 20, series((f) => f['answer beyond the hold, p99, ms'])),
    panel(640, 'resident', 'MiB', 200, series((f) => f['resident, highest, MiB'])),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 270" font-family="sans-serif" font-size="12">
<title>What a controller costs, by the number of its agents</title>
<rect width="960" height="270" fill="#fff"/>
${panels.join('\n')}
<text x="480" y="262" text-anchor="middle">agents, one report a second each</text>
</svg>
`;
}

const options = readOptions(process.argv.slice(2));
const all = options.agents.map((agents) => measure(options, agents));
console.log(table(all));
if (options.out) writeFileSync(options.out, plot(all));
process.exit(all.some((facts) => facts.failures > 0) ? 1 : 0);
