// Why is a call refused: in sentences, and by the numbers from the algorithm's proposal to the limit in
// force, of which one decides.
import { useRef } from 'preact/hooks';
import { query, request } from './api';
import { age, clock, count, whole } from './format';
import { History, useHistory } from './history';
import { useReader, useResource } from './resource';
import { setQuery } from './router';
import { Facts, advice, chooseRow, decides, fill, since, verdict } from './story';
import { Constraint, DecisionLine, Message } from './ui';
import { Dependency, Explanation, Limit, List, LogEvent, Quota } from './types';

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

// What was refused and admitted within the last minute; nothing without a history of the controller.
function lastMinute(history: History | undefined): { refused: number; admitted: number } | undefined {
  if (!history || history.seen || history.times.length < 2) return undefined;
  const { times, columns } = history;
  const step = times[1]! - times[0]!;
  const from = times.at(-1)! - 60;
  const sum = (name: string) => Math.round((columns[name] ?? []).reduce<number>((all, rate, i) => all + (times[i]! > from ? (rate ?? 0) * step : 0), 0));
  return { refused: sum('rejected_rate'), admitted: sum('admitted_rate') };
}

function Headline({ facts }: { facts: Facts }) {
  const { dependency: d } = facts;
  const minute = lastMinute(useHistory(d.name, ['rejected_rate', 'admitted_rate'], 2, 5000).data);
  const enforced = d.mode === 'ENFORCE';
  const bad = enforced && (d.status.rejected_per_second > 0 || (d.status.breaker && d.status.breaker.state !== 'CLOSED'));
  const [first, rest] = verdict(facts).split(/(?<=\.)(?= )(.*)/s);
  const tone = bad ? 'bad' : minute?.refused || !enforced ? '' : 'good';
  return (
    <p class={`headline ${tone}`}>
      <b>{first}</b>{rest}
      {minute && <> In the last minute {enforced ? '' : 'it would have '}<b>{whole(minute.refused)}</b> of {whole(enforced ? minute.refused + minute.admitted : minute.admitted)} calls {enforced ? 'were refused' : 'been refused'}.</>}
    </p>
  );
}

// The three answers somebody came for: what binds, since when, what to do.
function Answer({ facts, row }: { facts: Facts; row: Limit | undefined }) {
  const [first, ...more] = advice(facts, row);
  const breaker = facts.dependency.status.breaker?.last_change;
  return (
    <dl class="answer">
      {breaker?.message && <div><dt>The breaker</dt><dd>{clock(breaker.time)}: {breaker.message}</dd></div>}
      {row && <div><dt>What binds</dt><dd><b>{decides(facts, row)}</b> <span class="faint">{row.instance_id}{row.service && ` of ${row.service}`}: {fill(row)}</span></dd></div>}
      {row && <div><dt>Since when</dt><dd>{since(facts, row).map((line) => <p key={line}><Message text={line} /></p>)}</dd></div>}
      <div><dt>What to do</dt><dd><b>{first}</b>{more.map((line) => <p key={line}>{line}</p>)}</dd></div>
    </dl>
  );
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

// Of a dependency with many instances the same one is told of from one look to the next, as long as its
// limit is used: what changes under somebody's eyes cannot be read.
function useRow(live: Limit[], chosen: string): Limit | undefined {
  const last = useRef('');
  const before = live.find((row) => key(row) === last.current);
  const full = before && before.enforced !== null && before.enforced > 0 && Math.max(before.in_flight, before.in_flight_max) >= before.enforced;
  const row = (chosen && live.find((r) => r.instance_id === chosen)) || (full ? before : chooseRow(live, ''));
  last.current = row ? key(row) : '';
  return row;
}

const OFFERED_MAX = 200;

// What can be chosen: all; of very many, those closest to their limits. The table below leads to each.
function offered(live: Limit[], row: Limit | undefined): Limit[] {
  if (live.length <= OFFERED_MAX) return live;
  const load = (r: Limit) => Math.max(r.in_flight, r.in_flight_max) / Math.max(1, r.enforced ?? 1);
  const some = [...live].sort((a, b) => load(b) - load(a)).slice(0, OFFERED_MAX);
  return row && !some.includes(row) ? [row, ...some] : some;
}

export function Why({ d, rows, chosen }: { d: Dependency; rows: Limit[]; chosen: string }) {
  const live = rows.filter((row) => !row.fenced);
  const row = useRow(live, chosen);
  const capacity = d.quota?.capacity ?? null;
  const path = `/v1/dependencies/${encodeURIComponent(d.name)}`;
  const told = useReader<Explanation | null>(row ? `${path}:explain|${row.instance_id}` : null, async () => {
    const answer = await request<Explanation>('POST', `${path}:explain`, { body: { instance_id: row!.instance_id } }).catch(() => null);
    return { data: answer && Array.isArray(answer.data?.steps) ? answer.data : null, etag: '', unchanged: false };
  }, { every: 10_000, keep: true });
  const quota = useResource<Quota>(d.quota ? `${path}/quota` : null, { every: 5000 });
  const events = useResource<List<LogEvent>>(row ? `/v1/events${query({ dependency: d.name, instance_id: row.instance_id, since: '10m', page_size: 1000 })}` : null, { every: 5000, keep: true });
  const facts: Facts = { dependency: d, quota: quota.data ?? null, limits: rows, events: events.data?.items ?? [], now: Date.now() };
  // An explanation of a limit that has moved since is none.
  const fits = told.data && row && told.data.enforced === row.enforced && told.data.instance_id === row.instance_id;
  return (
    <section class="panel why" id="why" aria-label="Why are calls refused?">
      <header>
        <h2>Why are calls refused?</h2>
        <div class="aside">
          {row && <Constraint name={row.binding_constraint} />}
          {live.length > 0 && (
            <label>Instance <select value={row?.instance_id} onChange={(event) => setQuery({ instance: event.currentTarget.value })}>
              {offered(live, row).map((r) => <option key={key(r)} value={r.instance_id}>{r.instance_id}</option>)}
            </select></label>
          )}
        </div>
      </header>
      <Headline facts={facts} />
      <Answer facts={facts} row={row} />
      {row && <Ladder row={row} why={fits ? told.data! : derive(row, capacity)} />}
      {d.status.last_decision?.event_id && <p class="last faint">Newest decision, {age(d.status.last_decision.age_seconds)} ago: <DecisionLine decision={d.status.last_decision} /></p>}
    </section>
  );
}
