// What the programs say they export: the lists of `plimsoll-controller --list-metrics` and `plimsoll-fleet --list-metrics`.
import { execFileSync } from 'node:child_process';
import path from 'node:path';

const list = (bin, program) => JSON.parse(execFileSync(path.join(bin, program), ['--list-metrics'], { encoding: 'utf8' }));

/** @returns {{agent: Metric[], controller: Metric[]}}, Metric = {name, type, unit, labels: {[name]: string[]|null}, help} */
export const readCatalogue = bin => ({ agent: list(bin, 'plimsoll-fleet'), controller: list(bin, 'plimsoll-controller') });

/** The metrics by the names that Prometheus stores their series under. */
export function seriesNames(catalogue) {
  const known = new Map();
  for (const m of [...catalogue.agent, ...catalogue.controller])
    for (const suffix of m.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) known.set(m.name + suffix, m);
  return known;
}
