import { curl } from '../api';
import { age, count, percent, rate, seconds, words } from '../format';
import { tail, useHistory, useRemember } from '../history';
import { Resource, useAll } from '../resource';
import { dependencyHref, href } from '../router';
import { Spark } from '../spark';
import { Column, Table } from '../table';
import { Bar, Constraint, Empty, Mode, PageHead, Show, Stat } from '../ui';
import { Dependency, Limit, Shard, Status } from '../types';
import { constraints } from '../why';
import { Sizing } from './sizing';

const SPARK_METRICS = ['in_flight', 'enforced', 'rejected_rate'];
const SNIPPET = `plimsoll::AgentOptions options;
options.controllers = {"http://127.0.0.1:7481"};
options.service = "checkout";
const auto agent = plimsoll::Agent::Start(options);

auto& payments = (*agent)->bulkhead("payments-api");
if (auto permit = payments.TryAcquire()) {
  // make the call, and cut it at permit->time_left(); then
  permit->Succeed();  // or Drop(), if it failed of overload
}`;

function DependencySpark({ d }: { d: Dependency }) {
  const history = useHistory(d.name, SPARK_METRICS, 10, 10_000);
  return <Spark history={history.data && tail(history.data, 600)} limited={d.mode === 'ENFORCE'} />;
}

// Calls that are refused in earnest: those of a dependency that is only observed pass.
function refusedOf(d: Dependency): number {
  return d.mode === 'ENFORCE' ? d.status.rejected_per_second : 0;
}

// Refusals first, then unmet demand, then use.
export function pressure(d: Dependency): number {
  const { wanted, granted, in_flight: flight, enforced } = d.status;
  return refusedOf(d) * 1000 + Math.max(0, wanted - granted) * 10 + (enforced > 0 ? flight / enforced : 0);
}

function guess(d: Dependency): string | null {
  if (d.status.instances === 0) return null;
  if (d.override) return 'OVERRIDE';
  if (d.quota && d.status.wanted > d.status.granted) return 'QUOTA';
  return d.status.health === 'AT_FLOOR' ? 'FLOOR' : 'ALGORITHM';
}

function refusedCell(d: Dependency) {
  const refused = d.status.rejected_per_second;
  const { breaker } = d.status;
  const open = breaker && breaker.state !== 'CLOSED';
  if (!(refused > 0) && !open) return <span class="faint">0</span>;
  const link = (tone: string, label: string) => <a class={tone} href={dependencyHref(d.name)} aria-label={label} title="Why?">{rate(refused)}</a>;
  if (d.mode !== 'ENFORCE') return <span class="two">{link('faint', `${rate(refused)} calls per second would be refused: why?`)}<small>would be</small></span>;
  return <span class="two">{link('refused', `${rate(refused)} calls per second are refused: why?`)}{open ? <small class="bad-text">breaker {words(breaker.state)}</small> : <small>why?</small>}</span>;
}

function columns(limits: Map<string, Limit[]>): Column<Dependency>[] {
  return [
    { key: 'name', phone: '34%', title: 'Dependency', width: '21%', by: (d) => d.name, cell: (d) => (
      <span class="two"><a class="strong" href={dependencyHref(d.name)} title={d.name}>{d.name}</a><small title={d.description}>{d.description || `${d.algorithm.toLowerCase().replaceAll('_', ' ')}, ${d.scope.toLowerCase()}`}</small></span>) },
    { key: 'spark', title: 'Last 10 minutes', width: '152px', cell: (d) => <DependencySpark d={d} /> },
    { key: 'limit', phone: '21%', title: 'In flight / limit', width: '15%', number: true, by: (d) => d.status.enforced, cell: (d) => {
      const whole = d.quota?.capacity ?? Math.max(d.ceiling * Math.max(1, d.status.instances), d.status.enforced);
      return <span class="two"><span><b>{count(d.status.in_flight)}</b> <span class="faint">/ {d.mode === 'ENFORCE' ? count(d.status.enforced) : '–'}{d.quota && <span class="wider"> of {d.quota.capacity}</span>}</span></span><Bar value={d.status.in_flight} mark={d.mode === 'ENFORCE' ? d.status.enforced : undefined} whole={whole} /></span>;
    } },
    { key: 'use', title: 'In use', width: '70px', number: true, by: (d) => (d.status.enforced ? d.status.in_flight / d.status.enforced : 0), cell: (d) => percent(d.status.in_flight, d.status.enforced) },
    { key: 'p99', title: 'p99', width: '80px', number: true, by: (d) => d.status.latency_p99_seconds ?? -1, cell: (d) => seconds(d.status.latency_p99_seconds) },
    { key: 'refused', phone: '19%', title: 'Refused/s', width: '104px', number: true, by: pressure, cell: refusedCell },
    { key: 'binding', phone: '26%', title: 'Held back by', width: '16%', by: (d) => guess(d) ?? '', cell: (d) => {
      const found = constraints(limits.get(d.name) ?? []).slice(0, 2);
      if (found.length === 0) return <Constraint name={guess(d)} />;
      return <span class="chips">{found.map(([name, n]) => <span key={name}><Constraint name={name} />{found.length > 1 && <small> {n}</small>}</span>)}</span>;
    } },
    { key: 'instances', title: 'Instances', width: '84px', number: true, by: (d) => d.status.instances, cell: (d) => count(d.status.instances) },
    { key: 'mode', title: 'Mode', width: '92px', by: (d) => d.mode, cell: (d) => <Mode mode={d.mode} /> },
  ];
}

export function StatusLine({ s, refused, alarms }: { s: Status; refused: number; alarms: string[] }) {
  const learning = typeof s.learning === 'object' ? s.learning.active : Boolean(s.learning);
  const config = s.config.last_reload_ok === false;
  return (
    <dl class="stats">
      <Stat label="Controller" value={s.role.toLowerCase()} tone={s.store_ok === false ? 'bad' : ''}
        note={s.store_ok === false ? 'store fails' : learning ? 'learning' : `${s.version}, up ${age(s.uptime_seconds)}`} />
      <Stat label="Agents" value={count(s.agents.connected)} note={s.agents.silent ? `${s.agents.silent} silent` : 'connected'} tone={s.agents.silent ? 'warn' : ''} />
      <Stat label="Dependencies" value={count(s.dependencies.total)} note={s.dependencies.limited ? `${s.dependencies.limited} want more than granted` : 'none limited'} />
      <Stat label="Refused" value={<>{rate(refused)}<span class="unit">/s</span></>} note={refused > 0 ? 'click a red number: why?' : 'all dependencies'} tone={refused > 0 ? 'bad' : ''} />
      <Stat label="Quotas" value={alarms.length ? `${alarms.length} over` : 'kept'} note={alarms.length ? alarms.join(', ') : 'reserved ≤ capacity'} tone={alarms.length ? 'bad' : 'good'} />
      <Stat label="Configuration" value={config ? 'refused' : 'in force'} tone={config ? 'bad' : ''} note={<a href={href('config')}>{s.config.hash.slice(0, 8) || 'none'}</a>} />
    </dl>
  );
}

const SHARD_COLUMNS: Column<Shard>[] = [
  { key: 'shard', phone: '20%', title: 'Shard', width: '72px', number: true, by: (s) => s.shard, cell: (s) => s.shard },
  { key: 'owner', phone: '50%', title: 'Led by', by: (s) => s.owner, cell: (s) => (s.role === 'LEADER' ? 'this controller'
    : s.owner ? <a href={s.owner} title="Its console">{s.owner}</a> : <span class="bad-text">nobody</span>) },
  { key: 'epoch', title: 'Epoch', width: '25%', number: true, cell: (s) => s.epoch ?? '–' },
  { key: 'dependencies', phone: '30%', title: 'Dependencies', width: '120px', number: true, cell: (s) => s.dependencies ?? '–' },
];

// Several controllers share the dependencies: the tables show what this one leads.
function Shards({ shards }: { shards: Shard[] }) {
  if (shards.length === 0) return null;
  const here = shards.filter((s) => s.role === 'LEADER').length;
  return (
    <section class="panel flush" aria-label="Shards">
      <p class="note t-info">This controller leads {here} of {shards.length} shards. The others know what belongs to theirs.</p>
      <Table label="Shards" rows={shards} columns={SHARD_COLUMNS} id={(s) => String(s.shard)} />
    </section>
  );
}

function NoDependencies() {
  return (
    <Empty title="No dependency is configured">
      <p>Name one in the configuration, then let an agent ask for permits:</p>
      <pre tabIndex={0}>{'dependencies:\n  - name: payments-api\n    quota: {capacity: 50}'}</pre>
      <pre tabIndex={0}>{SNIPPET}</pre>
      <p class="faint">Then: <code>kill -HUP</code> the controller, or start it again. Does it answer? <code>{curl('/v1/status')}</code></p>
    </Empty>
  );
}

export function Fleet({ status }: { status: Resource<Status> }) {
  const dependencies = useAll<Dependency>('/v1/dependencies');
  const limits = useAll<Limit>('/v1/limits', { every: 10_000 });
  useRemember(dependencies.data);
  const byName = new Map<string, Limit[]>();
  for (const row of limits.data ?? []) byName.set(row.dependency, [...(byName.get(row.dependency) ?? []), row]);
  const rows = dependencies.data ?? [];
  const refused = rows.reduce((sum, d) => sum + refusedOf(d), 0);
  const alarms = rows.filter((d) => d.quota && d.status.reserved > d.quota.capacity).map((d) => d.name);
  const silent = rows.length > 0 && rows.every((d) => d.status.instances === 0);
  return (
    <>
      <PageHead title="Fleet" sub="Every dependency, the most limited first" paths={['/v1/status', '/v1/dependencies', '/v1/limits']} />
      <Show of={status}>{(s) => <StatusLine s={s} refused={refused} alarms={alarms} />}</Show>
      <section class="panel flush" aria-label="Dependencies">
        <Show of={dependencies}>{(all: Dependency[]) => (all.length === 0 ? <NoDependencies />
          : <Table label="Dependencies" rows={all} columns={columns(byName)} id={(d) => d.name} height={46} sort={{ key: 'refused', down: true }} />)}</Show>
      </section>
      {silent && <p class="note t-info">No agent has joined yet. Point one at the agents' address of this controller; <a href={href('instances')}>Instances</a> shows it within a second.</p>}
      {status.data?.shards && <Shards shards={status.data.shards} />}
      <Sizing />
    </>
  );
}

