// Writes the rules as a PrometheusRule object for the Prometheus operator, or compares it.
// Usage: node prometheusrule.mjs [--check]
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const file = path.join(here, 'prometheusrule.yaml');
const rules = fs.readFileSync(path.join(here, 'plimsoll.rules.yml'), 'utf8');
const groups = rules.slice(rules.indexOf('groups:')).trimEnd().split('\n').map(l => (l ? '  ' + l : l)).join('\n');
const text = `# Generated from plimsoll.rules.yml by \`make dashboards-build\`.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: plimsoll
  labels: {app.kubernetes.io/name: plimsoll}
spec:
${groups}
`;

if (!process.argv.includes('--check')) fs.writeFileSync(file, text);
else if (fs.readFileSync(file, 'utf8') !== text) {
  console.error('prometheusrule.yaml is not what plimsoll.rules.yml says; run: make dashboards-build');
  process.exit(1);
}
