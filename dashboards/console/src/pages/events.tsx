import { useState } from 'preact/hooks';
import { Audit } from './audit';
import { Problem, get, query } from '../api';
import { count, dateTime, seconds, setting, words } from '../format';
import { useResource } from '../resource';
import { dependencyHref, eventHref, href, place, setQuery } from '../router';
import { Change, Constraint, Empty, Message, PageHead, Panel, ProblemView, Show } from '../ui';
import { List, LogEvent } from '../types';

const TYPES = ['DECISION', 'LIMIT_CHANGED', 'QUOTA_CHANGED', 'OVERRIDE_SET', 'OVERRIDE_CLEARED', 'INSTANCE_JOINED', 'INSTANCE_LEFT', 'INSTANCE_EXPIRED',
  'DEPENDENCY_CREATED', 'DEPENDENCY_UPDATED', 'DEPENDENCY_DELETED', 'CONFIG_RELOADED', 'CONFIG_RELOAD_FAILED', 'LEADER_CHANGED', 'BREAKER_OPENED', 'BREAKER_CLOSED'];
const REASONS = ['LATENCY_ROSE', 'LATENCY_FELL', 'THROUGHPUT_GREW', 'THROUGHPUT_FLAT', 'ERRORS', 'TIMEOUTS', 'UNDERUSED', 'FLOOR', 'CEILING', 'QUOTA_REBALANCED',
  'QUOTA_CHANGED', 'OVERRIDE_SET', 'OVERRIDE_CLEARED', 'CONFIG_RELOADED', 'RESET', 'FALLBACK_ENTERED', 'FALLBACK_LEFT', 'INITIAL'];
const PAGE = 100;

function input(name: string, value: unknown): string {
  if (typeof value !== 'number') return typeof value === 'string' ? value : setting(value);
  if (name.endsWith('_seconds')) return seconds(value);
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return count(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

// "latency 48 ms against a baseline of 11 ms → gradient 0.50 → 61 → 31"
function chain(event: LogEvent): string {
  const i = event.inputs ?? {};
  const parts: string[] = [];
  if (typeof i.window_latency_seconds === 'number') {
    const against = typeof i.baseline_latency_seconds === 'number' ? ` against a baseline of ${seconds(i.baseline_latency_seconds)}` : '';
    parts.push(`latency ${seconds(i.window_latency_seconds)}${against}`);
  }
  if (typeof i.gradient === 'number') parts.push(`gradient ${i.gradient.toFixed(2)}`);
  if (event.from !== undefined) parts.push(`${event.from} → ${event.to}`);
  return parts.join(' → ');
}

function title(type: string): string {
  const text = words(type);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function Inputs({ event }: { event: LogEvent }) {
  const rows = Object.entries(event.inputs ?? {}).filter(([, value]) => value !== null);
  return <dl class="pairs wide">{rows.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{input(name, value)}</dd></div>)}</dl>;
}

function Row({ event }: { event: LogEvent }) {
  const [open, setOpen] = useState(false);
  return (
    <li class="event">
      <a class="when" href={eventHref(event.id)}><time dateTime={event.time}>{dateTime(event.time)}</time></a>
      <span class="kind">{event.from !== undefined ? <Change from={event.from} to={event.to ?? 0} /> : <span class="chip t-quiet">{words(event.type)}</span>}</span>
      <span class="reason">{event.reason ? words(event.reason) : ''}</span>
      <p><Message text={event.message} />
        <small>{event.dependency && <a href={dependencyHref(event.dependency)}>{event.dependency}</a>}{event.instance_id && <>{event.dependency ? ' · ' : ''}{event.service}/{event.instance_id}</>}{event.identity && <> · by {event.identity}</>}</small>
      </p>
      {event.inputs ? <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? 'Hide' : 'Inputs'}</button> : <span />}
      {open && <div class="inputs"><p class="mono">{chain(event)}</p><Inputs event={event} /></div>}
    </li>
  );
}

function Filters() {
  const q = place.value.query;
  const field = (name: string, label: string, options?: string[]) => (
    <label>{label} {options
      ? <select value={q.get(name) ?? ''} onChange={(e) => setQuery({ [name]: e.currentTarget.value })}><option value="">all</option>{options.map((o) => <option key={o} value={o}>{words(o)}</option>)}</select>
      : <input type="search" value={q.get(name) ?? ''} onChange={(e) => setQuery({ [name]: e.currentTarget.value.trim() })} />}</label>
  );
  return <div class="filters" role="search">{field('dependency', 'Dependency')}{field('instance_id', 'Instance')}{field('type', 'Type', TYPES)}{field('reason', 'Reason', REASONS)}</div>;
}

export function Events() {
  const q = place.value.query;
  const filter = { dependency: q.get('dependency'), instance_id: q.get('instance_id'), type: q.get('type'), reason: q.get('reason') };
  const path = `/v1/events${query({ ...filter, page_size: PAGE })}`;
  const newest = useResource<List<LogEvent>>(path, { every: 3000 });
  const [older, setOlder] = useState<{ path: string; items: LogEvent[]; next: string; problem?: Problem }>({ path, items: [], next: '' });
  const mine = older.path === path ? older : { path, items: [], next: '' };
  const more = async (next: string) => {
    try {
      const { data } = await get<List<LogEvent>>(`${path}&page_token=${encodeURIComponent(next)}`);
      setOlder({ path, items: [...mine.items, ...data.items], next: data.next_page_token });
    } catch (error) {
      setOlder({ ...mine, problem: error as Problem });
    }
  };
  return (
    <>
      <PageHead title="Events" sub="What changed and why, newest first" paths={[path]} />
      <Audit />
      <Filters />
      <section class="panel flush" aria-label="Events">
        <Show of={newest}>{(list: List<LogEvent>) => {
          const known = new Set(list.items.map((event) => event.id));
          const all = [...list.items, ...mine.items.filter((event) => !known.has(event.id))];
          const next = mine.items.length ? mine.next : list.next_page_token;
          if (all.length === 0) return <Empty title="No event fits"><p>Events come with the first change of a limit. <button type="button" onClick={() => setQuery({ dependency: '', instance_id: '', type: '', reason: '' })}>Clear the filters</button></p></Empty>;
          return (
            <>
              <ol class="events">{all.map((event) => <Row key={event.id} event={event} />)}</ol>
              {next && <button type="button" class="more" onClick={() => void more(next)}>Older events</button>}
              {older.problem && <ProblemView problem={older.problem} />}
            </>
          );
        }}</Show>
      </section>
    </>
  );
}

export function EventPage({ id }: { id: string }) {
  const path = `/v1/events/${encodeURIComponent(id)}`;
  const event = useResource<LogEvent>(path, { once: true });
  return (
    <>
      <PageHead title={`Event ${id}`} sub="This address stays valid as long as the controller remembers the event" paths={[path]} />
      <Show of={event}>{(e: LogEvent) => (
        <>
          <Panel title={title(e.type)} aside={<time dateTime={e.time}>{dateTime(e.time)}</time>}>
            <p class="headline">{e.from !== undefined && !e.message.includes(`${e.from} → ${e.to}`) && <Change from={e.from} to={e.to ?? 0} />} <Message text={e.message} /></p>
            <dl class="pairs wide">
              {e.dependency && <div><dt>dependency</dt><dd><a href={dependencyHref(e.dependency)}>{e.dependency}</a></dd></div>}
              {e.instance_id && <div><dt>instance</dt><dd><a href={dependencyHref(e.dependency ?? '', { instance: e.instance_id })}>{e.service}/{e.instance_id}</a></dd></div>}
              {e.reason && <div><dt>reason</dt><dd>{words(e.reason)}</dd></div>}
              {e.binding_constraint && <div><dt>held back by</dt><dd><Constraint name={e.binding_constraint} /></dd></div>}
              {e.identity && <div><dt>by</dt><dd>{e.identity}</dd></div>}
            </dl>
          </Panel>
          {e.inputs && <Panel title="Inputs"><p class="mono chain">{chain(e)}</p><Inputs event={e} /></Panel>}
          <p><a href={href('events', { dependency: e.dependency ?? '' })}>All events{e.dependency ? ` of ${e.dependency}` : ''}</a></p>
        </>
      )}</Show>
    </>
  );
}
