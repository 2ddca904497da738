import { age, count, percent, words } from '../format';
import { dependencyHref, eventHref } from '../router';
import { Column, Table } from '../table';
import { Bar, Constraint, Mode } from '../ui';
import { Instance, Limit } from '../types';
import { key } from '../why';

export interface LimitRow extends Limit { instance?: Instance }

function use(row: LimitRow): number {
  return row.enforced ? row.in_flight / row.enforced : 0;
}

function state(row: LimitRow) {
  const lost = row.lease_stage !== 'LEASE';
  const name = row.fenced ? 'FENCED' : lost ? `FALLBACK, ${row.lease_stage}` : row.instance?.state ?? 'CONNECTED';
  const tone = lost ? 't-bad' : name === 'CONNECTED' ? '' : 't-warn';
  if (!tone && row.mode !== 'ENFORCE') return <Mode mode={row.mode} />;
  return <span class={tone ? `chip ${tone}` : 'faint'}>{words(name)}</span>;
}

const ALL: Column<LimitRow>[] = [
  { key: 'instance', phone: '35%', title: 'Instance', width: '17%', by: (r) => r.instance_id, cell: (r) => <span class="two"><a class="strong" href={dependencyHref(r.dependency, { instance: r.instance_id })} title={`${r.instance_id}: why this limit?`}>{r.instance_id}</a><small>{r.service}<span class="narrow"> · {r.dependency}</span></small></span> },
  { key: 'dependency', title: 'Dependency', width: '15%', by: (r) => r.dependency, cell: (r) => <a href={dependencyHref(r.dependency)} title={r.dependency}>{r.dependency}</a> },
  { key: 'flight', phone: '22%', title: 'In flight', width: '104px', number: true, by: use, cell: (r) => <span class="two"><span><b>{count(r.in_flight)}</b> <span class="faint">{percent(r.in_flight, r.enforced ?? 0)}</span></span><Bar value={r.in_flight} whole={r.enforced ?? 0} /></span> },
  { key: 'enforced', phone: '19%', title: 'Enforced', width: '80px', number: true, by: (r) => r.enforced ?? -1, cell: (r) => <b>{count(r.enforced)}</b> },
  { key: 'algorithm', title: 'Algorithm', width: '84px', number: true, by: (r) => r.algorithm_limit, cell: (r) => count(r.algorithm_limit) },
  { key: 'share', title: 'Share', width: '64px', number: true, by: (r) => r.quota_share ?? -1, cell: (r) => count(r.quota_share) },
  { key: 'bounds', title: 'Bounds', width: '84px', number: true, roomy: true, by: (r) => r.ceiling, cell: (r) => <span class="faint">{r.floor}…{r.ceiling}</span> },
  { key: 'binding', phone: '24%', title: 'Held back by', width: '112px', by: (r) => r.binding_constraint, cell: (r) => <Constraint name={r.binding_constraint} /> },
  { key: 'reason', title: 'Last change', width: '138px', by: (r) => r.last_change?.reason ?? '', cell: (r) => (r.last_change?.event_id
    ? <a href={eventHref(r.last_change.event_id)}>{words(r.last_change.reason)}</a> : <span class="faint">{words(r.last_change?.reason)}</span>) },
  { key: 'mode', title: 'Mode', width: '84px', roomy: true, by: (r) => r.mode, cell: (r) => <Mode mode={r.mode} /> },
  { key: 'age', title: 'Report', width: '72px', number: true, by: (r) => r.age_seconds, cell: (r) => age(r.age_seconds) },
  { key: 'version', title: 'Version', width: '84px', roomy: true, by: (r) => r.instance?.agent_version ?? '', cell: (r) => <span class="faint">{r.instance?.agent_version || '–'}</span> },
  { key: 'state', title: 'State', width: '136px', by: (r) => r.lease_stage + (r.instance?.state ?? ''), cell: state },
];
const NARROW = ['instance', 'flight', 'enforced', 'algorithm', 'share', 'binding', 'reason', 'age'];

export function LimitTable({ rows, narrow = false, marked, evict }: { rows: LimitRow[]; narrow?: boolean; marked?: string; evict?: (row: LimitRow) => void }) {
  const columns = narrow ? ALL.filter((column) => NARROW.includes(column.key)) : [...ALL];
  if (evict) columns.push({ key: 'evict', title: '', label: 'Evict', width: '84px', cell: (r) => <button type="button" class="small" aria-label={`Evict ${r.instance_id}…`} onClick={() => evict(r)}>Evict…</button> });
  return <Table label="Limits of instances" rows={rows} columns={columns} id={(r) => `${r.dependency}/${key(r)}`} height={42}
    sort={{ key: 'flight', down: true }} mark={(r) => r.instance_id === marked} />;
}
