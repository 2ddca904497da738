// node tests/run.mjs FILE...: runs tests; exits with 77, which means skipped, if there is no browser.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { whyNot } from './browser.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const files = process.argv.slice(2);
const reason = whyNot();
if (reason) {
  console.log(`skipped: ${reason}`);
  process.exit(77);
}
const tests = files.length ? files : ['dist_test.mjs', 'pages_test.mjs', 'states_test.mjs'];
const { status } = spawnSync(process.execPath, ['--test', '--test-concurrency=1', '--test-force-exit', '--test-reporter=spec', ...tests.map((file) => join(here, file))], { stdio: 'inherit' });
process.exit(status ?? 1);
