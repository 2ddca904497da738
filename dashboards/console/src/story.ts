// Why calls are refused, in sentences: those of `plimsoll why` (api/cli/src/why.cc, why_advice.cc), word
// for word, so that the two answers can be laid side by side. Pure. A test compares them.
import { Dependency, Limit, LogEvent, Quota } from './types';

export interface Facts {
  dependency: Dependency;
  quota: Quota | null;
  limits: Limit[];
  events: LogEvent[]; // of the dependency, newest first
  now: number; // ms since 1970
}

const SINCE_MS = 600_000; // how far to look back
const SLOW = 2; // latency is this much above the baseline: the dependency is not well
const IDLE = 0.5; // of what an instance holds, it uses less than this: others could have the rest

export const MEANINGS: Record<string, string> = {
  LATENCY_ROSE: 'latency is above what the baseline tolerates',
  LATENCY_FELL: 'latency is within the tolerance and the limit was in use',
  THROUGHPUT_GREW: 'more calls in flight still brought more throughput',
  THROUGHPUT_FLAT: 'more calls in flight brought nothing',
  ERRORS: 'too many calls failed',
  TIMEOUTS: 'too many calls timed out',
  UNDERUSED: 'the limit was not used',
  PROBE: 'the algorithm tried something on purpose to learn',
  FLOOR: 'the floor cut the step short',
  CEILING: 'the ceiling cut the step short',
  QUOTA_REBALANCED: 'shares moved between instances',
  QUOTA_CHANGED: 'the quota or its policy was changed',
  OVERRIDE_SET: 'an operator set an override',
  OVERRIDE_CLEARED: 'an override was removed or ran out',
  CONFIG_RELOADED: 'settings were changed',
  RESET: 'an operator reset what the algorithm had learned',
  FALLBACK_ENTERED: 'a lease ran out without the controller',
  FALLBACK_LEFT: 'the controller is back',
  INITIAL: 'it is the first limit',
};

const precise = (value: number) => String(Number(value.toPrecision(3)));

function number(value: number | null | undefined): string {
  if (value === null || value === undefined) return 'none';
  return Number.isInteger(value) || Math.abs(value) >= 100 ? value.toFixed(0) : precise(value);
}

function twoParts(seconds: number, unit: number, name: string, smaller: number, smallerName: string): string {
  const whole = Math.floor(seconds / unit);
  const rest = Math.floor((seconds - whole * unit) / smaller);
  return rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${smallerName}`;
}

function span(seconds: number): string {
  if (seconds < 0.0009995) return `${precise(seconds * 1e6)} us`;
  if (seconds < 0.9995) return `${precise(seconds * 1e3)} ms`;
  if (seconds < 60) return `${precise(seconds)} s`;
  if (seconds < 3600) return twoParts(seconds, 60, 'min', 1, 's');
  if (seconds < 86_400) return twoParts(seconds, 3600, 'h', 60, 'min');
  return twoParts(seconds, 86_400, 'd', 3600, 'h');
}

function ago(ms: number): string {
  if (Math.abs(ms) < 1000) return 'now';
  const text = span(Math.floor(Math.abs(ms) / 1000));
  return ms > 0 ? `${text} ago` : `in ${text}`;
}

// "17:20:11 UTC (12 s ago)", with the date if it is another day.
function when(text: string | undefined, now: number): string {
  const time = Date.parse(text ?? '');
  if (Number.isNaN(time)) return text || 'an unknown time';
  const iso = new Date(time).toISOString();
  const today = iso.slice(0, 10) === new Date(now).toISOString().slice(0, 10);
  return `${today ? '' : `${iso.slice(0, 10)} `}${iso.slice(11, 19)} UTC (${ago(now - time)})`;
}

const lower = (word: string | null | undefined) => (word ?? '').split('_').join(' ').toLowerCase();

function loadOf(row: Limit): number {
  if (row.fenced) return -1;
  const used = Math.max(row.in_flight, row.in_flight_max);
  return row.enforced ? used / row.enforced : used > 0 ? 1e9 : 0;
}

// The row that is told of: that of `instance`; without one, the one that is closest to its limit.
export function chooseRow(limits: Limit[], instance: string): Limit | undefined {
  let chosen: Limit | undefined;
  for (const row of limits) {
    if (instance && row.instance_id !== instance) continue;
    if (!chosen || loadOf(row) > loadOf(chosen)) chosen = row;
  }
  return chosen;
}

function constraintsOf(limits: Limit[]): string {
  const counts = new Map<string, number>();
  for (const row of limits) counts.set(lower(row.binding_constraint), (counts.get(lower(row.binding_constraint)) ?? 0) + 1);
  const parts = [...counts].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([word, n]) => `the ${word} decides for ${n}`);
  return `Of its ${limits.length}${limits.length === 1 ? ' instance, ' : ' instances, '}${parts.join(', ')}.`;
}

export function verdict({ dependency: d, limits }: Facts): string {
  const refused = d.status.rejected_per_second;
  const rate = `${number(refused)} calls/s`;
  const { breaker } = d.status;
  if (breaker && breaker.state && breaker.state !== 'CLOSED') {
    return `The breaker of ${d.name} is ${lower(breaker.state)}: calls are refused without being tried. The next probe is due in ${span(breaker.next_probe_seconds ?? 0)}.`;
  }
  if (d.mode !== 'ENFORCE') return `${d.name} is in mode ${lower(d.mode)}: nothing is refused${d.mode === 'OBSERVE' ? `; ${rate} would be.` : '.'}`;
  if (limits.length === 0) return `No instance uses ${d.name}: nothing is refused.`;
  if (!(refused > 0)) return `No call to ${d.name} is refused now.`;
  return `${rate} to ${d.name} are refused. ${constraintsOf(limits)}`;
}

// How full the limit of a row is.
export function fill(row: Limit): string {
  if (row.enforced === null) {
    const calls = number(row.in_flight);
    return `It has ${calls}${calls === '1' ? ' call' : ' calls'} in flight, and no limit is enforced.`;
  }
  const lately = Math.max(row.in_flight, row.in_flight_max);
  const has = `It may have ${number(row.enforced)} calls in flight; it has ${number(row.in_flight)} now, and had at most ${number(lately)} lately. `;
  if (row.in_flight >= row.enforced) return `${has}The limit is used up: one more call is refused, or waits if its bulkhead has a queue.`;
  if (lately >= row.enforced) return `${has}The limit was used up lately: calls above it were refused, or waited.`;
  return `${has}There is room for ${number(row.enforced - row.in_flight)} more.`;
}

// What binds the limit of a row; would bind, where none is enforced.
export function decides(facts: Facts, row: Limit): string {
  const sentence = binding(facts, row);
  return row.enforced === null ? sentence.replaceAll(' decides', ' would decide') : sentence;
}

function binding({ dependency: d, now }: Facts, row: Limit): string {
  switch (row.binding_constraint) {
    case 'QUOTA': {
      // What it could use follows its calls, and may have fallen since the share was made.
      const short = (row.wanted ?? 0) > (row.quota_share ?? 0);
      return `The quota decides: its share is ${number(row.quota_share)} of ${number(d.quota?.capacity)}${short ? `, and it could use ${number(row.wanted)}` : ''}.`;
    }
    case 'OVERRIDE': {
      const pin = d.override;
      if (!pin) return 'An override decides.';
      return `An override decides: ${pin.set_by ?? ''} pinned the limit to ${number(pin.limit)} until ${when(pin.expire_time, now)}, because: ${pin.reason}.`;
    }
    case 'CEILING': return `The ceiling of ${number(row.ceiling)} decides: the algorithm would allow ${number(row.algorithm_limit)}.`;
    case 'FLOOR': return `The floor of ${number(row.floor)} decides: the algorithm would allow only ${number(row.algorithm_limit)}.`;
    case 'FALLBACK': return `Its lease has ended (stage ${lower(row.lease_stage)}): the controller heard of it ${span(row.age_seconds)} ago, and it uses what was granted for that case.`;
    default: return `The algorithm ${lower(d.algorithm)} decides: it allows ${number(row.algorithm_limit)}, between floor ${number(row.floor)} and ceiling ${number(row.ceiling)}.`;
  }
}

function because(reason: string | undefined): string {
  const meaning = MEANINGS[reason ?? ''];
  return meaning ? `${meaning} (${reason})` : reason ?? '';
}

// How often, and why, in the time that is looked at.
function changes({ events, now }: Facts, row: Limit): string {
  const mine = events.filter((e) => e.type === 'LIMIT_CHANGED' && e.instance_id === row.instance_id && now - Date.parse(e.time) <= SINCE_MS);
  if (mine.length === 0) return '';
  const values = mine.flatMap((e) => [e.from ?? 0, e.to ?? 0]);
  const reasons = new Map<string, number>();
  for (const e of mine) reasons.set(e.reason ?? '', (reasons.get(e.reason ?? '') ?? 0) + 1);
  const parts = [...reasons].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([reason, times]) => `${times} × ${reason}`);
  return `In the last ${span(SINCE_MS / 1000)} it changed ${mine.length}${mine.length === 1 ? ' time' : ' times'}, between ${number(Math.min(...values))} and ${number(Math.max(...values))}: ${parts.join(', ')}.`;
}

// Since when the limit of a row is what it is, and how often it changed.
export function since(facts: Facts, row: Limit): string[] {
  const id = row.last_change?.event_id;
  const event = id ? facts.events.find((e) => e.id === id && facts.now - Date.parse(e.time) <= SINCE_MS) : undefined;
  const step = event && typeof event.to === 'number' ? `${number(event.from)} → ${number(event.to)}, ` : '';
  const first = `Since ${when(row.last_change?.time, facts.now)}: ${step}because ${because(row.last_change?.reason)}.${id ? ` Event ${id}.` : ''}`;
  return [first, event?.message ?? '', changes(facts, row)].filter((line) => line !== '');
}

function adviseOnQuota({ dependency: d, quota }: Facts): string[] {
  const advice: string[] = [];
  const idle = (quota?.shares ?? []).filter((share) => share.granted >= 2 && share.in_flight < IDLE * share.granted);
  const spare = idle.reduce((sum, share) => sum + share.granted - share.in_flight, 0);
  if (quota && quota.orphaned > 0) {
    advice.push(`${number(quota.orphaned)} are reserved for instances that went silent, and come back when their holds end: see plimsoll get instances, and plimsoll evict those that will not return.`);
  }
  if (spare >= 1) advice.push(`Others hold ${number(spare)} that they do not use (${idle[0]!.instance_id} for one): shares follow demand within a few seconds.`);
  const baseline = d.status.baseline_latency_seconds ?? 0;
  const slow = baseline > 0 && (d.status.latency_p50_seconds ?? 0) > SLOW * baseline;
  advice.push(slow ? `Do not raise the quota yet: ${d.name} is slow already. ${lookAt(d)}`
    : `If ${d.name} can take more: plimsoll set quota ${d.name} --capacity N. plimsoll size ${d.name} says how many.`);
  return advice;
}

const lookAt = (d: Dependency) => `Look at ${d.name} itself: is it slow, failing, or short of servers?`;

function adviseByConstraint(facts: Facts, row: Limit): string[] {
  const d = facts.dependency;
  switch (row.binding_constraint) {
    case 'QUOTA': return adviseOnQuota(facts);
    case 'OVERRIDE': return [`If the reason of the override is over: plimsoll unset override ${d.name}.`];
    case 'CEILING': return [`If ${d.name} is well, raise its ceiling in the policy: plimsoll size ${d.name} advises one.`];
    case 'FLOOR': return [lookAt(d), 'Raising the floor would send it more calls than it can do.'];
    case 'FALLBACK': return [`Look why ${row.instance_id} does not reach the controller: its log, the network between, and plimsoll get instances.`];
    default: return [lookAt(d), 'The limit rises by itself when latency falls; more calls now would only wait.'];
  }
}

// What an operator can do about it, the most promising first.
export function advice(facts: Facts, row: Limit | undefined): string[] {
  const d = facts.dependency;
  const { breaker } = d.status;
  if (breaker && breaker.state && breaker.state !== 'CLOSED') return [lookAt(d), 'The breaker closes by itself when a probe succeeds.'];
  if (!row) return [`Start an agent that names ${d.name}, or look at plimsoll get instances.`];
  const lines = d.status.learning ? ['The controller is learning after a restart and raises nothing: wait.'] : [];
  if (row.enforced === null) return [...lines, 'Nothing: calls pass. What would be refused is counted only.'];
  const full = Math.max(row.in_flight, row.in_flight_max) >= row.enforced;
  if (full || d.status.rejected_per_second > 0) return [...lines, ...adviseByConstraint(facts, row)];
  return [...lines, `Nothing now. For a refusal in the past: plimsoll why ${d.name} --since 1h, or plimsoll get events -d ${d.name}.`,
    'If calls are refused all the same, dependency_bulkhead_rejected_total of that process tells the reason: its queue, a deadline, its breaker, or draining.'];
}
