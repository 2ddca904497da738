import { useMemo, useState } from 'preact/hooks';
import { query } from '../api';
import { Bounds, Chart, Line, Marker, QuotaBefore } from '../chart';
import { clock, count, percent, rate, seconds, setting, words } from '../format';
import { History, METRICS, known, tail, useHistory, useRemember } from '../history';
import { useAll, useResource } from '../resource';
import { eventHref, href, place, setQuery } from '../router';
import { Change, Health, Message, Mode, PageHead, Panel, Show, Stat } from '../ui';
import { Dependency, Limit, List, LogEvent } from '../types';
import { Why } from '../why';
import { LimitTable } from './limit_table';
import { Operate } from './operate';
import { Sizing } from './sizing';

const CONCURRENCY: Line[] = [
  { metric: 'in_flight', label: 'in flight', colour: '--green', fill: true },
  { metric: 'enforced', label: 'limit (enforced)', colour: '--accent', dash: [6, 4], width: 2.5, steps: true },
  { metric: 'algorithm_limit', label: 'algorithm', colour: '--purple', dash: [2, 3], loose: true },
  { metric: 'quota_share', label: 'quota share', colour: '--orange', dash: [9, 4], width: 1 },
  { metric: 'wanted', label: 'wanted', colour: '--muted', dash: [1, 3], loose: true },
];
const OBSERVED = CONCURRENCY.filter((line) => line.metric !== 'enforced');
const LATENCY: Line[] = [
  { metric: 'latency_p50_seconds', label: 'p50', colour: '--green' },
  { metric: 'latency_p99_seconds', label: 'p99', colour: '--red', width: 2 },
  { metric: 'baseline_latency_seconds', label: 'baseline', colour: '--purple', dash: [2, 3] },
];
const CALLS: Line[] = [
  { metric: 'admitted_rate', label: 'admitted/s', colour: '--green', fill: true },
  { metric: 'rejected_rate', label: 'refused/s', colour: '--red', width: 2 },
];
const MARKS_MAX = 200; // decisions on the graph; a law that probes makes several a second
const LISTED_MAX = 60;
const GUTTER = 82; // the names of floor, ceiling and quota, in pixels
const RANGES: [string, number][] = [['5 min', 5], ['15 min', 15], ['1 h', 60]];
const SETTINGS = ['origin', 'mode', 'scope', 'algorithm', 'floor', 'ceiling', 'initial', 'call_deadline', 'window', 'quota', 'outage'];
const HIDDEN = new Set(['name', 'description', 'status', 'override', 'revision', 'create_time', 'update_time']);

function limitAt(history: History, time: number): number | null {
  const { times, columns } = history;
  const column = columns.enforced ?? [];
  let index = times.findIndex((t) => t >= time);
  if (index < 0) index = times.length - 1;
  return column[index] ?? null;
}

function markersOf(events: LogEvent[], history: History): Marker[] {
  const first = history.times[0] ?? Infinity;
  const last = history.times.at(-1) ?? -Infinity;
  return events.filter((event) => event.from !== undefined && event.from !== event.to && !event.instance_id).map((event) => {
    const time = new Date(event.time).getTime() / 1000;
    return { time, value: limitAt(history, time), id: event.id, text: `${clock(event.time)} ${event.message}`, down: (event.to ?? 0) < (event.from ?? 0) };
  }).filter(({ time }) => time >= first && time <= last).sort((a, b) => a.time - b.time);
}

// All instances together.
function boundsOf(d: Dependency, changes: LogEvent[]): Bounds {
  const n = d.status.instances;
  return { floor: d.floor * n, ceiling: d.ceiling * n, quota: d.quota?.capacity ?? null, before: changes.map(before) };
}

// "The quota of payments-db was 40 and is 20; …": a limit of before the change was within the quota of then.
function before(event: LogEvent): QuotaBefore {
  const was = event.message.match(/ was (\d+) and is /)?.[1];
  return { value: was === undefined ? null : Number(was), until: Date.parse(event.time) / 1000 };
}

function Graphs({ d, events, marked, stress }: { d: Dependency; events: LogEvent[]; marked?: string; stress: (id?: string) => void }) {
  const minutes = Number(place.value.query.get('range')) || 15;
  const history = useHistory(d.name, METRICS, minutes, 5000);
  const quotas = useResource<List<LogEvent>>(`/v1/events${query({ dependency: d.name, type: 'QUOTA_CHANGED', page_size: 20 })}`, { every: 10_000 });
  const ranges = (
    <span class="segmented" role="group" aria-label="Time range">
      {RANGES.map(([text, value]) => <button type="button" key={value} aria-pressed={value === minutes} onClick={() => setQuery({ range: String(value) })}>{text}</button>)}
    </span>
  );
  return (
    <Panel title="Over time" aside={ranges}>
      <Show of={history}>{(all: History) => {
        const shown = tail(all, minutes * 60);
        const markers = markersOf(events, shown);
        // A history that has just begun is not pressed into the last inch of an hour.
        const span = Math.max(60, Math.min(minutes * 60, known(shown)));
        const common = { times: shown.times, columns: shown.columns, span, gutter: GUTTER };
        return (
          <>
            {all.seen && <p class="faint">This controller keeps no history: the graphs begin when this page was opened.</p>}
            <Chart label="Concurrency" unit="count" lines={d.mode === 'ENFORCE' ? CONCURRENCY : OBSERVED} height={230} bounds={boundsOf(d, quotas.data?.items ?? [])} markers={markers} marked={marked} stress={stress} {...common} />
            <Chart label="Latency" unit="seconds" lines={LATENCY} height={140} {...common} />
            <Chart label="Calls" unit="rate" lines={CALLS} height={140} {...common} />
          </>
        );
      }}</Show>
    </Panel>
  );
}

function Decisions({ d, events, marked, stress }: { d: Dependency; events: LogEvent[]; marked?: string; stress: (id?: string) => void }) {
  return (
    <Panel title="Decisions" aside={<a href={href('events', { dependency: d.name })}>all events</a>}>
      {events.length === 0 ? <p class="faint pad">No change yet. Small steps made only to learn are not listed.</p> : (
        <ol class="feed" tabIndex={0} aria-label="Decisions, newest first">
          {events.slice(0, LISTED_MAX).map((event) => (
            <li key={event.id} class={event.id === marked ? 'marked' : ''} onMouseEnter={() => stress(event.id)} onMouseLeave={() => stress(undefined)}>
              <a href={eventHref(event.id)} onFocus={() => stress(event.id)} onBlur={() => stress(undefined)}>
                <time dateTime={event.time}>{clock(event.time)}</time>
                {event.from !== undefined ? <Change from={event.from} to={event.to ?? 0} /> : <span>{words(event.type)}</span>}
                <span class="faint">{event.from !== undefined ? words(event.reason) : ''}</span>
              </a>
              <p><Message text={event.message} /></p>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function Settings({ d }: { d: Dependency }) {
  const names = [...SETTINGS, ...Object.keys(d).filter((name) => !SETTINGS.includes(name) && !HIDDEN.has(name))];
  const source = d.origin === 'API' ? 'made over the API' : 'from the file, read-only here';
  const flat = names.filter((name) => name in d).flatMap((name): [string, unknown][] => {
    const value = d[name];
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return [[name, value]];
    return Object.entries(value as object).map(([inner, v]): [string, unknown] => [`${name}.${inner}`, v]);
  });
  return (
    <Panel title="Settings" aside={<span class="faint">{source}</span>}>
      <dl class="pairs">{flat.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{setting(value)}</dd></div>)}</dl>
    </Panel>
  );
}

function Summary({ d }: { d: Dependency }) {
  const s = d.status;
  const enforced = d.mode === 'ENFORCE';
  return (
    <dl class="stats">
      <Stat label="In flight" value={<>{count(s.in_flight)}{enforced && <span class="unit"> / {count(s.enforced)}</span>}</>} note={enforced ? `${percent(s.in_flight, s.enforced)} of the limit` : 'no limit enforced'} />
      <Stat label={enforced ? 'Refused' : 'Would be refused'} value={<>{rate(s.rejected_per_second)}<span class="unit">/s</span></>} note={`${rate(s.admitted_per_second ?? 0)}/s admitted`} tone={enforced && s.rejected_per_second > 0 ? 'bad' : ''} />
      <Stat label="Latency p99" value={seconds(s.latency_p99_seconds)} note={`baseline ${seconds(s.baseline_latency_seconds)}`} />
      <Stat label="Quota" value={d.quota ? count(d.quota.capacity) : 'none'} note={d.quota ? <a href={href('quota')}>reserved {count(s.reserved)}, wanted {count(s.wanted)}</a> : `wanted ${count(s.wanted)}`} tone={d.quota && s.reserved > d.quota.capacity ? 'bad' : ''} />
      <Stat label="Instances" value={count(s.instances)} note={s.instances === 0 ? 'none has joined' : s.not_enforcing ? `${s.not_enforcing} not enforcing` : 'all enforcing'} />
      <Stat label="Health" value={<Health name={s.health} />} note={<Mode mode={d.mode} />} />
    </dl>
  );
}

export function DependencyPage({ name }: { name: string }) {
  const path = `/v1/dependencies/${encodeURIComponent(name)}`;
  const eventsPath = `/v1/events${query({ dependency: name, page_size: 100 })}`;
  const dependency = useResource<Dependency>(path);
  const limits = useAll<Limit>(`/v1/limits${query({ dependency: name })}`);
  const decisions = useResource<List<LogEvent>>(`/v1/events${query({ dependency: name, type: 'DECISION', page_size: MARKS_MAX })}`, { every: 5000 });
  const events = useResource<List<LogEvent>>(eventsPath, { every: 5000 });
  const [marked, setMarked] = useState<string>();
  const list = useMemo(() => (dependency.data ? [dependency.data] : undefined), [dependency.data]);
  useRemember(list);
  // Decisions about the whole pool; where there are none, what became of single instances.
  const told = decisions.data?.items.length ? decisions.data.items : events.data?.items ?? [];
  const shown = told.filter((event) => event.reason !== 'PROBE');
  const rows = limits.data ?? [];
  return (
    <>
      <PageHead title={name} sub={dependency.data?.description} paths={[path, `/v1/limits${query({ dependency: name })}`, `/v1/timeseries${query({ dependency: name })}`, eventsPath]} />
      <Show of={dependency}>{(d: Dependency) => (
        <>
          <Summary d={d} />
          <Why d={d} rows={rows} chosen={place.value.query.get('instance') ?? ''} />
          <div class="columns">
            <div class="main">
              <Graphs d={d} events={shown} marked={marked} stress={setMarked} />
              <Panel title="Instances" class="flush" aside={<a href={href('instances', { dependency: name })}>all columns</a>}>
                <Show of={limits}>{(all: Limit[]) => (all.length === 0 ? <p class="faint pad">No instance uses this dependency. The first call through a bulkhead named “{name}” makes one appear.</p>
                  : <LimitTable rows={all} narrow />)}</Show>
              </Panel>
              <Sizing dependency={name} />
            </div>
            <div class="side">
              <Decisions d={d} events={shown} marked={marked} stress={setMarked} />
              <Operate d={d} changed={dependency.reload} />
              <Settings d={d} />
            </div>
          </div>
        </>
      )}</Show>
    </>
  );
}
