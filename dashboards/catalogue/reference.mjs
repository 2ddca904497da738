// Writes METRICS.md from what the programs say, or compares it.
// Usage: node reference.mjs BIN_DIR FILE [--check]
import fs from 'node:fs';
import { readCatalogue } from './catalogue.mjs';

const [bin, file, mode] = process.argv.slice(2);
const catalogue = readCatalogue(bin);
const code = text => '`' + text + '`';
const row = m => `| ${code(m.name)} | ${m.type} | ${m.unit} | ${Object.keys(m.labels).map(code).join(', ') || '–'} | ${m.help.replace(/\|/g, '\\|')} |`;
const table = metrics => ['| Name | Type | Unit | Labels | Meaning |', '|---|---|---|---|---|', ...metrics.map(row)].join('\n');

// Labels with a closed list of values, once for each list.
function values(metrics) {
  const lists = new Map();
  for (const m of metrics)
    for (const [label, closed] of Object.entries(m.labels)) {
      if (!closed) continue;
      const key = label + '\0' + closed.join();
      if (!lists.has(key)) lists.set(key, { label, closed, names: [] });
      lists.get(key).names.push(m.name);
    }
  return [...lists.values()].map(l => `| ${code(l.label)} | ${l.names.map(code).join(', ')} | ${l.closed.map(code).join(', ')} |`);
}

const text = `# Metrics

Generated from the programs by \`make metrics-reference\`; a test compares. Every metric is declared once, in
\`agent/src/metrics_catalogue.cc\` or \`api/http/src/metrics_catalog.cc\`.

- All combinations of closed label values exist with 0 from the start; a series disappears with its dependency or instance.
- More than 200 dependencies: the rest is \`dependency="__overflow__"\`, and is counted.
- Buckets of all histograms: 1, 2.5, 5, 10, 25, 50, 100, 250, 500 ms, 1, 2.5, 5, 10 s, +Inf.
- \`job\` and \`instance\` are Prometheus' own labels; the controller calls the others \`service\` and \`instance_id\`.

## Agent

${catalogue.agent.length} metrics, from \`plimsoll::agent_prometheus\` in your process.

${table(catalogue.agent)}

## Controller

${catalogue.controller.length} metrics, at \`GET /metrics\` of the operator plane.

${table(catalogue.controller)}

## Values of labels

| Label | Of | Values |
|---|---|---|
${values([...catalogue.agent, ...catalogue.controller]).join('\n')}

The values of \`dependency\`, \`service\`, \`instance_id\`, \`class\`, \`method\`, \`route\`, \`code\`, \`version\`, \`revision\` and
\`hash\` are open. \`route\` is the template of a route, never what a client sent.
`;

if (mode !== '--check') fs.writeFileSync(file, text);
else if (fs.readFileSync(file, 'utf8') !== text) {
  console.error(`${file} is not what the programs say; run: make metrics-reference`);
  process.exit(1);
}
console.log(`${catalogue.agent.length} metrics of agents, ${catalogue.controller.length} of the controller`);
