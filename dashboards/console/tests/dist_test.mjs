// What is committed is what the sources make.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const read = (folder) => Object.fromEntries(readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name)).map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]));

test('the committed dist/ is what the sources make, within the budget', () => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-console-'));
  try {
    execFileSync(process.execPath, ['build.mjs', folder], { cwd: root });
    const made = read(folder);
    const committed = read(join(root, 'dist'));
    assert.deepEqual(Object.keys(committed).sort(), Object.keys(made).sort(), 'run npm run build, and commit dist/');
    for (const [name, text] of Object.entries(made)) assert.ok(committed[name] === text, `${name} differs: run npm run build, and commit dist/`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the types fit', () => {
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', root], { stdio: 'pipe' });
});

test('the lock file names no place to download from, and the page no other host', () => {
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
  assert.doesNotMatch(lock, /"resolved"/);
  assert.match(lock, /"integrity"/);
  const page = readFileSync(join(root, 'dist/index.html'), 'utf8');
  assert.doesNotMatch(page, /(src|href)="(https?:)?\/\//);
  assert.doesNotMatch(page, /<script(?![^>]*src=)|style="|<style|onclick=/);
});
