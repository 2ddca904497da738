// Starts a fleet, a controller and Prometheus, and ends them again: each by its own process.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { spawn, spawnSync } from 'node:child_process';

export const sleep = ms => new Promise(done => setTimeout(done, ms));
export const has = program => !spawnSync(program, ['--version'], { stdio: 'ignore' }).error;

const children = [];

function start(program, args, log) {
  const child = spawn(program, args, { stdio: ['ignore', log, log] });
  child.on('error', e => { child.failed = e; });
  children.push(child);
  return child;
}

const ended = child => child.failed || child.exitCode !== null || child.signalCode !== null;

async function until(what, child, seconds, look) {
  for (const end = Date.now() + 1000 * seconds; Date.now() < end; await sleep(100)) {
    const found = look();
    if (found) return found;
    if (ended(child)) break;
  }
  throw new Error(`${what} did not start within ${seconds} s`);
}

/** Of members with the loads of the demo fleet; see agent/examples/fleet. */
export async function startFleet(bin, folder, periodSeconds, members = 8) {
  const log = fs.openSync(path.join(folder, 'fleet.log'), 'w');
  const child = start(path.join(bin, 'plimsoll-fleet'),
    ['--folder', folder, '--period', String(periodSeconds), '--members', String(members)], log);
  const file = path.join(folder, 'targets.json');
  try { await until('the fleet', child, 30, () => fs.existsSync(file)); }
  catch (e) { throw new Error(`${e.message}: ${fs.readFileSync(path.join(folder, 'fleet.log'), 'utf8').trim()}`); }
  const [controller, agents] = JSON.parse(fs.readFileSync(file, 'utf8'));
  return { controller: controller.targets[0], agents: agents.targets, running: () => !ended(child) };
}

/** On a port of its own choice; the answer is its address. Scrapes every second, with the rules in force. */
export async function startPrometheus(folder, rulesFile) {
  const config = path.join(folder, 'prometheus.yml');
  fs.writeFileSync(config, JSON.stringify({
    global: { scrape_interval: '1s', evaluation_interval: '5s' }, rule_files: [rulesFile],
    scrape_configs: [{ job_name: 'plimsoll', file_sd_configs: [{ files: [path.join(folder, 'targets.json')] }] }],
  }));
  const logFile = path.join(folder, 'prometheus.log');
  const child = start('prometheus', [`--config.file=${config}`, `--storage.tsdb.path=${path.join(folder, 'tsdb')}`,
    '--web.listen-address=127.0.0.1:0', '--storage.tsdb.retention.time=1d'], fs.openSync(logFile, 'w'));
  const port = await until('prometheus', child, 30, () => /Listening on" address=\S*?:(\d+)/.exec(fs.readFileSync(logFile, 'utf8'))?.[1]);
  const base = `http://127.0.0.1:${port}`;
  for (let i = 0; i < 300; i++, await sleep(100)) if (await fetch(`${base}/-/ready`).then(r => r.ok, () => false)) return base;
  throw new Error('prometheus is not ready within 30 s');
}

export async function query(base, route, parameters) {
  const answer = await (await fetch(`${base}/api/v1/${route}`, { method: 'POST', body: new URLSearchParams(parameters) })).json();
  if (answer.status !== 'success') throw new Error(answer.error);
  return answer.data.result;
}

export const makeFolder = () => fs.mkdtempSync(path.join(os.tmpdir(), 'plimsoll-dashboards-'));

/** Runs `work`, and ends whatever was started, however it ends. */
export async function withProcesses(work) {
  const folder = makeFolder();
  const stop = async () => {
    for (const child of [...children].reverse()) if (!ended(child)) child.kill('SIGTERM');
    for (let i = 0; i < 60 && children.some(c => !ended(c)); i++) await sleep(100);
    for (const child of children) if (!ended(child)) child.kill('SIGKILL');
    fs.rmSync(folder, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, async () => { await stop(); process.exit(130); });
  try { return await work(folder); } finally { await stop(); }
}
