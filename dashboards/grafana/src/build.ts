// Writes the dashboards: tsx src/build.ts OUT_DIR
import fs from 'node:fs';
import path from 'node:path';
import { controller } from './controller.ts';
import { dependency } from './dependency.ts';
import { instance } from './instance.ts';
import { finish } from './lib.ts';
import { overview } from './overview.ts';

const outDir = process.argv[2];
if (!outDir) throw new Error('usage: build.ts OUT_DIR');
fs.mkdirSync(outDir, { recursive: true });
for (const dashboard of [overview, dependency, instance, controller]) {
  const json = finish(dashboard);
  fs.writeFileSync(path.join(outDir, JSON.parse(json).uid + '.json'), json);
}
