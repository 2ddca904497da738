// The console that plimsoll-controller carries, with agents in processes of their own that call a
// provider of 50 at once: node tests/run.mjs fleet_test.mjs, with PLIMSOLL_BIN_DIR.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assertAccessible, launch, shot, visit } from './browser.mjs';
import { MockServer } from './mock_server.mjs';
import { Story } from './story.mjs';

const BIN = process.env.PLIMSOLL_BIN_DIR ?? join(dirname(fileURLToPath(import.meta.url)), '../../../build/release/bin');
const REPLICAS = 4;
const CONFIG = (folder) => `
listen: {api: "127.0.0.1:0", agents: "127.0.0.1:0"}
state: {dir: "${folder}/state"}
agents: {lease: 2s, hold_max: 200ms, sync_min: 20ms, tick: 100ms}
dependencies:
  - name: provider
    description: Survives 12 calls at once
    scope: fleet
    algorithm: aimd
    aimd: {latency_threshold: 500ms}
    floor: 1
    ceiling: 12
    initial: 12
    window: {length: 500ms, min_samples: 5, percentile: 0.9}
    call_deadline: 1s
    quota: {capacity: 12}
    outage: {base_lease: 8s}
  - name: unused
    floor: 1
`;

let browser;
let folder;
let provider;
let controller;
let ports;
const children = [];

function run(program, ...args) {
  const child = spawn(join(BIN, program), args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (data) => { said = (said + data).slice(-4000); });
  child.said = () => said;
  children.push(child);
  return child;
}
const ended = (child) => new Promise((done) => { if (child.exitCode !== null || child.signalCode !== null) done(); else child.on('exit', done); });
async function until(what, condition) {
  for (let i = 0; i < 600; i += 1) {
    const value = await condition();
    if (value) return value;
    await new Promise((done) => { setTimeout(done, 50); });
  }
  throw new Error(`${what} did not happen; the controller said:\n${controller?.said()}`);
}

async function startController(name, ...more) {
  const portFile = join(folder, `${name}.ports`);
  const child = run('plimsoll-controller', '--config', join(folder, `${name}.yaml`), '--port-file', portFile, ...more);
  const bound = await until('the start of the controller', () => (existsSync(portFile) ? JSON.parse(readFileSync(portFile, 'utf8')) : null));
  return [child, bound];
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-console-'));
  writeFileSync(join(folder, 'config.yaml'), CONFIG(folder));
  provider = createServer((request, response) => {
    request.resume().on('end', () => setTimeout(() => response.end('ok'), 80));
  });
  await new Promise((done) => { provider.listen(0, '127.0.0.1', done); });
  await ended(run('plimsoll-controller', '--config', join(folder, 'config.yaml'), '--init'));
  [controller, ports] = await startController('config');
  for (let i = 0; i < REPLICAS; i += 1) {
    run('plimsoll-demo', '--role', 'replica', '--name', `checkout-${i}`, '--provider-host', '127.0.0.1', '--provider-port', String(provider.address().port),
      '--controller-host', '127.0.0.1', '--controller-port', String(ports.agents), '--rate', '60', '--seed', String(i + 1));
  }
  browser = await launch();
});
after(async () => {
  await browser?.close();
  for (const child of children) child.kill('SIGKILL');
  provider?.closeAllConnections();
  provider?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

const url = (path = '') => `http://127.0.0.1:${ports.api}/ui/${path}`;
// Routes that a controller may not have yet; the console does without them.
const OLDER = [/status of 404 .*\/v1\/(timeseries|watch|sizing|audit|config|dependencies\/[^/]+:explain)/, /status of 405/];

test('the way from / leads to the console, whose files are compressed and kept', async () => {
  const root = await fetch(`http://127.0.0.1:${ports.api}/`, { redirect: 'manual' });
  assert.equal(root.status, 302);
  assert.equal(root.headers.get('location'), '/ui/');
  const page = await fetch(url());
  const html = await page.text();
  assert.match(page.headers.get('content-security-policy'), /default-src 'self'/);
  assert.equal((await fetch(url(), { headers: { 'If-None-Match': page.headers.get('etag') } })).status, 304);
  for (const [, name] of html.matchAll(/="(assets\/[^"]+)"/g)) {
    const asset = await fetch(url(name));
    assert.equal(asset.status, 200, name);
    assert.equal(asset.headers.get('content-encoding'), 'gzip');
    assert.match(asset.headers.get('cache-control'), /immutable/);
    assert.ok((await asset.text()).length > 100, 'it can be unpacked');
  }
});

test('the configuration moves the console, or turns it off', async () => {
  const listen = 'listen: {api: "127.0.0.1:0", agents: "127.0.0.1:0"}\n';
  writeFileSync(join(folder, 'moved.yaml'), `${listen}console: {base_path: /plimsoll/ui/}\n`);
  const [moved, there] = await startController('moved', '--dev');
  assert.match(await (await fetch(`http://127.0.0.1:${there.api}/ui/quota?x=1`)).text(), /<base href="\/plimsoll\/ui\/">/);
  moved.kill('SIGTERM');
  writeFileSync(join(folder, 'off.yaml'), `${listen}console: {enabled: false}\n`);
  const [off, nowhere] = await startController('off', '--dev');
  assert.equal((await fetch(`http://127.0.0.1:${nowhere.api}/ui/`)).status, 404);
  off.kill('SIGTERM');
});

test('a running fleet is seen, and why its calls are refused', () => visit(browser, { allowed: OLDER }, async (visitor) => {
  const page = await visitor.open(url());
  await page.locator('a.refused').first().waitFor();
  await page.locator('.stat', { hasText: 'Agents' }).filter({ hasText: String(REPLICAS) }).waitFor();
  await shot(page, 'real-fleet-1280x720-light');
  await assertAccessible(page);
  await page.locator('a.refused').first().click();
  const why = page.getByRole('region', { name: 'Why are calls refused?' });
  await why.getByText(/calls\/s to provider are refused\. Of its 4 instances, /).waitFor();
  await why.getByText(/In the last minute [\d,]+ of [\d,]+ calls were refused\./).waitFor();
  await why.locator('.answer').getByText(/The (quota|algorithm|ceiling|floor).* decides: /).waitFor();
  assert.match(await why.locator('.answer').innerText(), /What to do\s+\S/);
  await why.locator('.ladder .binds').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('.legend b')[0]?.textContent.match(/^\d+/));
  await page.locator('.feed li').first().waitFor();
  await shot(page, 'real-dependency-1280x720-light');
  await assertAccessible(page);
}));

test('every page has the data of the fleet', () => visit(browser, { width: 1920, height: 1080, scheme: 'dark', allowed: OLDER }, async (visitor) => {
  const page = await visitor.open(url('instances'));
  for (let i = 0; i < REPLICAS; i += 1) await page.getByRole('link', { name: `checkout-${i}`, exact: true }).waitFor();
  await shot(page, 'real-instances-1920x1080-dark');
  await page.getByRole('navigation').getByRole('link', { name: 'Quota' }).click();
  await page.getByText(/reserved \d+ ≤ 12.* ✓/).waitFor();
  await page.getByRole('cell', { name: 'checkout-3' }).waitFor();
  await shot(page, 'real-quota-1920x1080-dark');
  await page.getByRole('navigation').getByRole('link', { name: 'Events' }).click();
  await page.locator('.event').first().waitFor();
  await shot(page, 'real-events-1920x1080-dark');
  await page.locator('.event .when').first().click();
  await page.getByRole('heading', { name: /^Event / }).waitFor();
  await page.getByRole('navigation').getByRole('link', { name: 'Configuration' }).click();
  await page.getByText('in force').first().waitFor();
  await shot(page, 'real-config-1920x1080-dark');
}));

test('an instance that lives is evicted, and joins again', () => visit(browser, { allowed: OLDER }, async (visitor) => {
  const page = await visitor.open(url('instances'));
  await page.getByRole('button', { name: 'Evict checkout-2…' }).click();
  await page.getByText(/It is alive: it will join again/).waitFor();
  await shot(page, 'real-evict-1280x720-light');
  await page.getByRole('dialog').getByRole('button', { name: 'Evict checkout-2' }).click();
  await page.getByText(/checkout-2 of \S+ is evicted/).waitFor();
  const events = await visitor.open(url('events?instance_id=checkout-2'));
  await events.getByText(/was evicted; \d+ stay reserved/).waitFor();
  await events.getByText(/checkout-2.*joined|joined.*checkout-2/i).first().waitFor();
}));

// The same answer from both, but for seconds that pass between the two.
test('the console tells why in the words of plimsoll why', async (t) => {
  const cli = join(BIN, 'plimsoll');
  if (!existsSync(cli)) return t.skip(`there is no ${cli}`);
  // No event may pass out of the ten minutes that are looked at while both are asked.
  let frozen = Math.floor(Date.now() / 5000) * 5;
  while (((37 - (frozen - 600)) % 222 + 222) % 222 < 60) frozen -= 5;
  const mock = await new MockServer({ story: new Story({ now: () => frozen }) }).start();
  const loose = (text) => text.replaceAll(/ \([^()]* ago\)/g, '').replaceAll(/in \d+ (s|min|h)[^.,]*/g, 'in a while').replaceAll(/\s+/g, ' ');
  try {
    await visit(browser, {}, async (visitor) => {
      for (const name of ['payments-api', 'inventory', 'mail-relay', 'search-sidecar', 'fraud-score', 'geo-lookup', 'ledger']) {
        const told = JSON.parse(await new Promise((done, fail) => {
          execFile(cli, ['why', name, '-o', 'json', '--addr', `http://127.0.0.1:${mock.port}`], (error, out) => (error ? fail(error) : done(out)));
        }));
        const page = await visitor.open(mock.url(`dependencies/${name}`));
        const panel = page.locator('#why');
        if (told.instance_id) await panel.getByText('Since ', { exact: false }).first().waitFor();
        await panel.getByText('What to do').waitFor();
        const lines = told.sections.filter(({ title }) => title.startsWith(told.instance_id ?? '\0') || title === 'Since when' || title === 'What to do').flatMap((section) => section.lines);
        for (const line of [told.verdict, ...lines]) {
          await page.waitForFunction(([wanted]) => {
            const all = document.querySelector('#why').innerText.replaceAll(/ \([^()]* ago\)/g, '').replaceAll(/in \d+ (s|min|h)[^.,]*/g, 'in a while').replaceAll(/\s+/g, ' ');
            return all.includes(wanted);
          }, [loose(line)], { timeout: 8000 }).catch(async () => assert.fail(`${name}: the console does not say “${loose(line)}” but\n${await panel.innerText()}`));
        }
        await page.close();
      }
    });
  } finally {
    await mock.stop();
  }
});

test('when the controller is gone the numbers do not look alive', () => visit(browser, { allowed: [...OLDER, /ERR_/] }, async (visitor) => {
  const page = await visitor.open(url());
  await page.locator('a.refused').first().waitFor();
  controller.kill('SIGTERM');
  await ended(controller);
  await page.getByRole('alert').filter({ hasText: 'No answer from the controller' }).waitFor();
  await page.locator('main.stale').waitFor();
  await shot(page, 'real-stale-1280x720-light');
}));
