// Why is a call refused: the numbers from the algorithm's proposal to the limit in force, and which of
// them decides.
import { ComponentChildren } from 'preact';
import { request } from './api';
import { count, rate } from './format';
import { useReader } from './resource';
import { setQuery } from './router';
import { Constraint, DecisionLine } from './ui';
import { Dependency, Explanation, Limit } from './types';

const ORDER = ['FALLBACK', 'QUOTA', 'OVERRIDE', 'CEILING', 'FLOOR', 'ALGORITHM'];

export function key(row: Limit): string {
  return `${row.service}/${row.instance_id}/${row.session ?? ''}`;
}

// How many instances each constraint binds, the most frequent first.
export function constraints(rows: Limit[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row.binding_constraint, (counts.get(row.binding_constraint) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || ORDER.indexOf(a[0]) - ORDER.indexOf(b[0]));
}

// The instance that is closest to its limit explains best.
function busiest(rows: Limit[]): Limit | undefined {
  const load = (row: Limit) => (row.enforced ? Math.max(row.in_flight, row.in_flight_max) / row.enforced : 0) + (row.fenced ? -10 : 0);
  return [...rows].sort((a, b) => load(b) - load(a))[0];
}

function sentence(d: Dependency, top: string | undefined, share: string): ComponentChildren {
  const { status, quota } = d;
  switch (top) {
    case 'QUOTA': return <>The quota binds {share}: all instances together could use {count(status.wanted)} calls in flight, and <b>{quota?.capacity ?? '–'}</b> are allowed.</>;
    case 'OVERRIDE': return <>An operator has pinned the limit of {share}{d.override ? <>: “{d.override.reason}”</> : ''}.</>;
    case 'CEILING': return <>The configured ceiling of <b>{d.ceiling}</b> binds {share}; the algorithm would go higher.</>;
    case 'FLOOR': return <>{share} are at the floor of <b>{d.floor}</b>; the algorithm would go lower, because the dependency is slow or failing.</>;
    case 'FALLBACK': return <>{share} have lost the controller and use what was granted for that case.</>;
    default: return <>The algorithm has found that the dependency takes no more.</>;
  }
}

function Headline({ d, rows }: { d: Dependency; rows: Limit[] }) {
  const { status } = d;
  const refused = status.rejected_per_second;
  const found = constraints(rows);
  const [top, instances] = found[0] ?? [undefined, 0];
  const share = instances === rows.length ? (rows.length === 1 ? 'the one instance' : `all ${rows.length} instances`) : `${instances} of ${rows.length} instances`;
  if (status.breaker && status.breaker.state !== 'CLOSED') {
    return <p class="headline bad"><b>The breaker is {status.breaker.state.toLowerCase().replace('_', ' ')}</b>: calls are refused without being tried. Next probe in {count(status.breaker.next_probe_seconds)} s.</p>;
  }
  if (rows.length === 0) return <p class="headline">No instance has reported a limit for this dependency.</p>;
  if (d.mode !== 'ENFORCE') return <p class="headline">This dependency is in mode {d.mode.toLowerCase()}: nothing is refused; {rate(refused)} calls/s would be.</p>;
  if (!refused) return <p class="headline good"><b>No calls are refused now:</b> {count(status.in_flight)} of {count(status.enforced)} are in use. What decides the limit is marked.</p>;
  return <p class="headline bad"><b>{rate(refused)} calls/s are refused.</b> {sentence(d, top, share)}</p>;
}

// For controllers that do not explain: the rule that they follow, applied to the row.
function derive(row: Limit, capacity: number | null): Explanation {
  const demand = (row.wanted ?? 0) > (row.quota_share ?? Infinity) ? `; it could use ${row.wanted}` : '';
  const bounded = Math.max(row.floor, Math.min(row.ceiling, row.algorithm_limit));
  const steps: Explanation['steps'] = [
    { name: 'algorithm', value: row.algorithm_limit, text: row.last_decision?.message ?? 'What the algorithm proposes.' },
    { name: 'bounds', value: bounded, text: `Between floor ${row.floor} and ceiling ${row.ceiling}.` },
  ];
  if (row.binding_constraint === 'OVERRIDE') steps.push({ name: 'override', value: row.wanted ?? row.enforced, text: 'Pinned by an operator.' });
  if (row.quota_share !== null) steps.push({ name: 'quota', value: row.quota_share, text: `The share of ${row.instance_id} is ${row.quota_share} of ${capacity ?? '–'}${demand}.` });
  if (row.binding_constraint === 'FALLBACK') steps.push({ name: 'lease', value: row.enforced, text: `The lease has ended; stage ${row.lease_stage.toLowerCase()}.` });
  return { enforced: row.enforced, binding_constraint: row.binding_constraint, steps };
}

const STEP_OF: Record<string, string> = { QUOTA: 'quota', CEILING: 'bounds', FLOOR: 'bounds', ALGORITHM: 'algorithm', OVERRIDE: 'override', FALLBACK: 'lease' };

function Ladder({ row, why }: { row: Limit; why: Explanation }) {
  const binding = STEP_OF[why.binding_constraint];
  return (
    <ol class="ladder" aria-label={`From the algorithm to the limit of ${row.instance_id}`}>
      {why.steps.map((step) => (
        <li key={step.name} class={step.name === binding ? 'binds' : ''}>
          <span class="step">{step.name}{step.name === binding && <em>decides</em>}</span>
          <strong>{count(step.value)}</strong>
          <span class="text">{step.text}</span>
        </li>
      ))}
      <li class="final">
        <span class="step">enforced</span>
        <strong>{count(why.enforced)}</strong>
        <span class="text">{count(row.in_flight)} in flight now, at most {count(row.in_flight_max)} lately. {row.enforced !== null && `The call beyond ${row.enforced} is refused.`}</span>
      </li>
    </ol>
  );
}

export function Why({ d, rows, chosen }: { d: Dependency; rows: Limit[]; chosen: string }) {
  const live = rows.filter((row) => !row.fenced);
  const row = live.find((r) => r.instance_id === chosen) ?? busiest(live);
  const capacity = d.quota?.capacity ?? null;
  const path = `/v1/dependencies/${encodeURIComponent(d.name)}:explain`;
  const told = useReader<Explanation | null>(row ? `${path}|${row.instance_id}` : null, async () => {
    const answer = await request<Explanation>('POST', path, { body: { instance_id: row!.instance_id } }).catch(() => null);
    return { data: answer && Array.isArray(answer.data?.steps) ? answer.data : null, etag: '', unchanged: false };
  }, { every: 10_000, keep: true });
  // An explanation of a limit that has moved since is none.
  const fits = told.data && row && told.data.enforced === row.enforced;
  return (
    <section class="panel why" id="why" aria-label="Why are calls refused?">
      <header>
        <h2>Why are calls refused?</h2>
        <div class="aside">
          {row && <Constraint name={row.binding_constraint} />}
          {live.length > 0 && (
            <label>Instance <select value={row?.instance_id} onChange={(event) => setQuery({ instance: event.currentTarget.value })}>
              {live.map((r) => <option key={key(r)} value={r.instance_id}>{r.instance_id}</option>)}
            </select></label>
          )}
        </div>
      </header>
      <Headline d={d} rows={live} />
      {row && <Ladder row={row} why={fits ? told.data! : derive(row, capacity)} />}
      {d.status.last_decision && <p class="last faint">Newest decision, {count(d.status.last_decision.age_seconds)} s ago: <DecisionLine decision={d.status.last_decision} /></p>}
    </section>
  );
}
