// The end of an agent's session, for operators: asked twice, since it takes permits from a process that may
// well be alive.
import { useState } from 'preact/hooks';
import { Problem, query, request } from '../api';
import { count } from '../format';
import { Dialog, ProblemView } from '../ui';
import { LimitRow } from './limit_table';

export function Evict({ row, all, close }: { row: LimitRow; all: LimitRow[]; close: (done?: string) => void }) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const mine = all.filter((r) => r.instance_id === row.instance_id && r.service === row.service);
  const held = mine.reduce((sum, r) => sum + (r.reserved ?? 0), 0);
  const flight = mine.reduce((sum, r) => sum + r.in_flight, 0);
  const alive = row.lease_stage === 'LEASE' && (row.instance?.state ?? 'CONNECTED') === 'CONNECTED';
  const evict = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const { data } = await request<{ partial?: boolean } | undefined>('DELETE', `/v1/instances/${encodeURIComponent(row.instance_id)}${query({ service: row.service })}`);
      const where = data?.partial ? ' from the shards that this controller leads; plimsoll evict does it for all' : '';
      close(`${row.instance_id} of ${row.service} is evicted${where}; its share stays reserved until its holds end.`);
    } catch (error) {
      setProblem(error as Problem);
      setBusy(false);
    }
  };
  return (
    <Dialog label={`Evict ${row.instance_id}`} close={() => close()}>
      <div class="help">
        <h2>Evict {row.instance_id} of {row.service}?</h2>
        <ul class="plain">
          <li>It holds {count(held)} of {mine.length === 1 ? row.dependency : `${mine.length} dependencies`}, and has {count(flight)} {flight === 1 ? 'call' : 'calls'} in flight. These go on.</li>
          <li>Its session ends. What it holds stays reserved until its hold ends, so that no quota is passed; then others get it.</li>
          <li>{alive ? 'It is alive: it will join again, as if it had just begun. Evict those that will not return.' : 'It does not report any more. If it comes back, it joins again.'}</li>
        </ul>
        <p class="faint">The controller notes who did it and when.</p>
        {problem && <ProblemView problem={problem} />}
        <p class="row"><button type="button" class="danger" disabled={busy} onClick={() => void evict()}>Evict {row.instance_id}</button><button type="button" autofocus onClick={() => close()}>Leave it</button></p>
      </div>
    </Dialog>
  );
}
