// A controller, a fleet and Prometheus, and the dashboards drawn by Grafana's libraries.
// Usage: node show.mjs BIN_DIR                    prints the address, and runs until it is interrupted
//        node show.mjs BIN_DIR --shots DIR [--seconds N]   waits N seconds (default 90), draws each dashboard into DIR, and ends
import path from 'node:path';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { serve } from '../grafana/render/server.mjs';
import { has, sleep, startFleet, startPrometheus, withProcesses } from './processes.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const option = name => { const i = process.argv.indexOf(name); return i < 0 ? undefined : process.argv[i + 1]; };
const shots = option('--shots');
const seconds = Number(option('--seconds') ?? 90);
if (!has('prometheus')) { console.error('there is no prometheus; install the Debian package prometheus'); process.exit(1); }

let faults = [];
await withProcesses(async folder => {
  const fleet = await startFleet(process.argv[2], folder, shots ? seconds * 0.8 : 60);
  const base = await startPrometheus(folder, path.join(here, '../prometheus/plimsoll.rules.yml'));
  const view = await serve(base);
  const parameters = { from: `now-${shots ? seconds : 300}s`, to: 'now', step: '1', refresh: shots ? '' : '5s' };
  const address = `${view.url}?${new URLSearchParams(parameters)}`;
  console.log(`dashboards  ${address}\nprometheus  ${base}/alerts\ncontroller  http://${fleet.controller}/v1/status`);
  if (shots) {
    await sleep(1000 * seconds);
    const { shoot } = await import('../grafana/render/shot.mjs');
    faults = await shoot(view.url, shots, parameters, ['dark', 'light']);
  } else {
    console.log('the graphs fill as you look; end with Ctrl-C');
    if (process.env.DISPLAY && has('xdg-open')) spawn('xdg-open', [address], { stdio: 'ignore', detached: true }).unref();
    while (fleet.running()) await sleep(500);
    faults = ['the fleet has ended by itself'];
  }
  view.close();
});
for (const f of faults) console.log(f);
process.exit(faults.length ? 1 : 0);
