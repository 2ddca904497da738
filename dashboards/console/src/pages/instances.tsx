import { useState } from 'preact/hooks';
import { query } from '../api';
import { mayOperate } from '../role';
import { href, place, setQuery } from '../router';
import { useAll } from '../resource';
import { Empty, PageHead, Show } from '../ui';
import { Instance, Limit } from '../types';
import { Evict } from './evict';
import { LimitRow, LimitTable } from './limit_table';

const CSV = ['dependency', 'service', 'instance_id', 'mode', 'enforced', 'in_flight', 'algorithm_limit', 'quota_share', 'floor', 'ceiling',
  'binding_constraint', 'lease_stage', 'age_seconds'] as const;

function save(name: string, type: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function toCsv(rows: LimitRow[]): string {
  const cell = (value: unknown) => (/[",\n]/.test(String(value ?? '')) ? `"${String(value).replaceAll('"', '""')}"` : String(value ?? ''));
  return [CSV.join(','), ...rows.map((row) => CSV.map((name) => cell(row[name])).join(','))].join('\n') + '\n';
}

function join(limits: Limit[], instances: Instance[]): LimitRow[] {
  const bySession = new Map(instances.map((i) => [i.session, i]));
  const byName = new Map(instances.map((i) => [`${i.service}/${i.instance_id}`, i]));
  return limits.map((row) => ({ ...row, instance: bySession.get(row.session ?? '') ?? byName.get(`${row.service}/${row.instance_id}`) }));
}

function matches(row: LimitRow, text: string): boolean {
  const all = `${row.instance_id} ${row.service} ${row.dependency} ${row.binding_constraint} ${row.mode} ${row.lease_stage} ${row.instance?.agent_version ?? ''}`.toLowerCase();
  return text.toLowerCase().split(/\s+/).every((word) => all.includes(word));
}

export function Instances() {
  const { query: q } = place.value;
  const dependency = q.get('dependency') ?? '';
  const text = q.get('q') ?? '';
  const path = `/v1/limits${query({ dependency })}`;
  const limits = useAll<Limit>(path);
  const instances = useAll<Instance>('/v1/instances');
  const rows = join(limits.data ?? [], instances.data ?? []);
  const shown = rows.filter((row) => matches(row, text));
  const names = [...new Set([...rows.map((row) => row.dependency), ...(dependency ? [dependency] : [])])].sort();
  const [doomed, setDoomed] = useState<LimitRow>();
  const [done, setDone] = useState('');
  const idle = (instances.data ?? []).filter((i) => i.dependencies.length === 0).length;
  return (
    <>
      <PageHead title="Instances" sub={limits.data && `${shown.length} of ${rows.length} limits, ${instances.data?.length ?? '–'} instances${idle ? `, ${idle} without a dependency` : ''}`} paths={[path, '/v1/instances']}>
        <button type="button" onClick={() => save('limits.csv', 'text/csv', toCsv(shown))}>CSV</button>
        <button type="button" onClick={() => save('limits.json', 'application/json', JSON.stringify(shown, null, 1))}>JSON</button>
      </PageHead>
      <div class="filters" role="search">
        <label>Filter <input type="search" placeholder="instance, service, constraint…" value={text} onInput={(e) => setQuery({ q: e.currentTarget.value })} /></label>
        <label>Dependency <select value={dependency} onChange={(e) => setQuery({ dependency: e.currentTarget.value })}><option value="">all</option>{names.map((n) => <option key={n}>{n}</option>)}</select></label>
      </div>
      {done && <p class="note t-good" role="status">{done}</p>}
      {doomed && <Evict row={doomed} all={rows} close={(text) => { setDoomed(undefined); setDone(text ?? ''); if (text) { limits.reload(); instances.reload(); } }} />}
      <section class="panel flush" aria-label="Limits">
        <Show of={limits}>{() => {
          if (rows.length === 0) return <Empty title={dependency ? `Nobody uses ${dependency}` : 'No agent has joined'}><p>An agent joins with its first call through a bulkhead. It needs the agents' address of this controller. <a href={href('')}>Back to the fleet</a></p></Empty>;
          if (shown.length === 0) return <Empty title="No row fits"><p><button type="button" onClick={() => setQuery({ q: '', dependency: '' })}>Clear the filters</button></p></Empty>;
          return <LimitTable rows={shown} evict={mayOperate.value ? setDoomed : undefined} />;
        }}</Show>
      </section>
    </>
  );
}
