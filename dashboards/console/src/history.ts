// What happened lately, by dependency: the controller's history, or, where it keeps none, what this
// page has seen itself.
import { useEffect } from 'preact/hooks';
import { Answer, Problem, get, query } from './api';
import { Resource, useReader } from './resource';
import { Dependency, Timeseries } from './types';

export const METRICS = ['in_flight', 'in_flight_max', 'enforced', 'algorithm_limit', 'quota_share', 'admitted_rate',
  'rejected_rate', 'error_rate', 'latency_p50_seconds', 'latency_p99_seconds', 'baseline_latency_seconds',
  'wanted', 'granted', 'reserved'];

export interface History {
  times: number[]; // seconds since 1970
  columns: Record<string, (number | null)[]>;
  seen: boolean; // by this page only
}

const SEEN_MAX = 1800;
const seen = new Map<string, History>();
let served: boolean | undefined; // whether the controller keeps a history

// Remembers what a dependency looks like now, for controllers without a history.
export function remember(dependency: Dependency): void {
  if (served) return;
  const { name, status } = dependency;
  const history: History = seen.get(name) ?? { times: [], columns: {}, seen: true };
  const time = Date.now() / 1000;
  const before = history.times.at(-1) ?? 0;
  if (time - before < 0.9) return;
  const values: Record<string, number | null | undefined> = {
    in_flight: status.in_flight, enforced: status.enforced, algorithm_limit: status.algorithm_limit,
    quota_share: dependency.quota ? status.granted : null, admitted_rate: status.admitted_per_second,
    rejected_rate: status.rejected_per_second, latency_p50_seconds: status.latency_p50_seconds,
    latency_p99_seconds: status.latency_p99_seconds, baseline_latency_seconds: status.baseline_latency_seconds,
    wanted: status.wanted, granted: status.granted, reserved: status.reserved,
  };
  history.times.push(time);
  for (const [metric, value] of Object.entries(values)) (history.columns[metric] ??= []).push(value ?? null);
  if (history.times.length > SEEN_MAX) {
    history.times.shift();
    for (const column of Object.values(history.columns)) column.shift();
  }
  seen.set(name, history);
}

export function useRemember(dependencies: Dependency[] | undefined): void {
  useEffect(() => dependencies?.forEach(remember), [dependencies]);
}

function fromAnswer({ start_time: start, step_seconds: step, columns }: Timeseries): History {
  const length = Math.max(0, ...Object.values(columns).map((column) => column.length));
  const begin = new Date(start).getTime() / 1000;
  return { times: Array.from({ length }, (_, i) => begin + i * step), columns, seen: false };
}

async function read(dependency: string, metrics: string[], minutes: number, etag: string): Promise<Answer<History>> {
  // A full minute, so that the address and with it the tag stay the same for a while.
  const since = new Date(Math.floor(Date.now() / 60_000 - minutes) * 60_000).toISOString();
  try {
    const answer = await get<Timeseries>(`/v1/timeseries${query({ dependency, metric: metrics.join(','), since })}`, etag);
    served = true;
    return answer.unchanged ? { ...answer, data: undefined as unknown as History } : { ...answer, data: fromAnswer(answer.data) };
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 404) throw error;
    served = false;
    const own = seen.get(dependency) ?? { times: [], columns: {}, seen: true };
    return { data: { ...own }, etag: '', unchanged: false };
  }
}

export function useHistory(dependency: string, metrics: string[], minutes: number, every: number): Resource<History> {
  const key = `${dependency}|${metrics.join()}|${minutes}`;
  return useReader<History>(key, (etag) => read(dependency, metrics, minutes, etag), { every: served === false ? 2000 : every });
}

// The last `seconds` of it.
export function tail(history: History, seconds: number): History {
  const end = history.times.at(-1) ?? 0;
  const first = history.times.findIndex((time) => time >= end - seconds);
  const columns = Object.fromEntries(Object.entries(history.columns).map(([name, column]) => [name, column.slice(first)]));
  return { times: history.times.slice(first), columns, seen: history.seen };
}

// Seconds since the first step that has a number at all.
export function known({ times, columns }: History): number {
  const first = times.findIndex((_, i) => Object.values(columns).some((column) => typeof column[i] === 'number'));
  return first < 0 ? 0 : times.at(-1)! - times[first]!;
}
