// Usage: node lint.mjs DASHBOARD.json...
// A file NAME.lint.json beside NAME.json may list exclusions: [{"rule": "...", "panel": "...", "reason": "..."}].
import fs from 'node:fs';
import path from 'node:path';
import { panelsOf } from '../../catalogue/promql.mjs';
import { lint } from './rules.mjs';

let bad = 0;
for (const file of process.argv.slice(2)) {
  const d = JSON.parse(fs.readFileSync(file, 'utf8'));
  const excludeFile = file.replace(/\.json$/, '.lint.json');
  const exclusions = fs.existsSync(excludeFile) ? JSON.parse(fs.readFileSync(excludeFile, 'utf8')) : [];
  for (const x of exclusions) if (!x.reason) { console.log(`${excludeFile}: an exclusion of ${x.rule} has no reason`); bad++; }
  const faults = lint(d).filter(f => !exclusions.some(x => x.rule === f.rule && (!x.panel || f.place.startsWith(x.panel))));
  for (const f of faults) console.log(`${path.basename(file)}: ${f.rule}: ${f.place ? f.place + ': ' : ''}${f.text}`);
  bad += faults.length;
  if (!faults.length) console.log(`${path.basename(file)}: clean (${panelsOf(d).length} panels)`);
}
process.exit(bad ? 1 : 0);
