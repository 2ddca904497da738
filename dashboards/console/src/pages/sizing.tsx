import { useEffect } from 'preact/hooks';
import { signal } from '@preact/signals';
import { get } from '../api';
import { age, count, rate, seconds, words } from '../format';
import { useReader } from '../resource';
import { dependencyHref } from '../router';
import { Panel } from '../ui';
import { List, SizingRow } from '../types';

// Whether this controller gives advice; asked once.
const known = signal<boolean | undefined>(undefined);
const CALM = new Set(['TOO_LITTLE_TRAFFIC', 'NEVER_USED', 'MEASURED_UNDER_LOAD', 'QUOTA_FAR_ABOVE_NEED']);

// What is set, and what should be if that is something else.
function Advised({ row, name }: { row: SizingRow; name: 'floor' | 'ceiling' | 'quota' }) {
  const is = row.configured[name];
  const should = row.advised[name];
  if (should === null || should === is) return <span class="faint">{count(is)}</span>;
  return <span class="nowrap"><span class="faint">{count(is)} → </span><b>{count(should)}</b></span>;
}

function Reasons({ row }: { row: SizingRow }) {
  return (
    <>
      {row.remarks.map((remark) => (
        <p key={remark.finding}><span class={`chip ${CALM.has(remark.finding) ? 't-info' : 't-warn'}`}>{words(remark.finding)}</span> {remark.message}</p>
      ))}
      {row.reasons.length > 0 && <details><summary>Why these numbers</summary><ul>{row.reasons.map((reason) => <li key={reason}>{reason}</li>)}</ul></details>}
    </>
  );
}

// What Little's law says floors, ceilings and quotas should be. Nothing if the controller has none.
export function Sizing({ dependency }: { dependency?: string }) {
  const path = '/v1/sizing';
  const advice = useReader<List<SizingRow>>(known.value === false ? null : path, (etag) => get(path, etag), { every: 15_000 });
  const missing = advice.problem?.status === 404;
  useEffect(() => { if (missing) known.value = false; }, [missing]);
  const rows = (advice.data?.items ?? []).filter((row) => !dependency || row.dependency === dependency);
  if (rows.length === 0) return null;
  const span = Math.max(0, ...rows.map((row) => row.measured.span_seconds ?? 0));
  return (
    <Panel title="Sizing advice" aside={<span class="faint">calls in flight = arrivals per second × latency{span > 0 ? `, of the last ${age(span)}` : ''}</span>} class="flush" id="sizing">
      <div class="scroll" tabIndex={0} role="group" aria-label="Sizing advice, rows">
      <table class="grid loose sizing" aria-label="Sizing advice">
        <thead><tr>
          {!dependency && <th scope="col">Dependency</th>}
          <th scope="col" class="n">Calls/s <span class="faint">/ most</span></th><th scope="col" class="n">Mean <span class="faint">/ p99</span></th><th scope="col" class="n">Needed <span class="faint">/ optional</span></th>
          <th scope="col" class="n">Floor</th><th scope="col" class="n">Ceiling</th><th scope="col" class="n">Quota</th>{!dependency && <th scope="col" class="wide">Remarks</th>}
        </tr></thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.dependency}>
              {!dependency && <td data-label="Dependency"><a class="strong" href={dependencyHref(row.dependency)}>{row.dependency}</a></td>}
              <td class="n" data-label="Calls/s / most"><span>{rate(row.measured.arrivals_per_second)} <span class="faint">/ {rate(row.measured.arrivals_per_second_max)}</span></span></td>
              <td class="n" data-label="Mean / p99"><span>{seconds(row.measured.latency_mean_seconds)} <span class="faint">/ {seconds(row.measured.latency_p99_seconds)}</span></span></td>
              <td class="n" data-label="Needed / optional" title="calls in flight: critical work, optional work"><span>{count(row.needed.critical)} <span class="faint">/ {count(row.needed.optional)}</span></span></td>
              <td class="n" data-label="Floor"><Advised row={row} name="floor" /></td>
              <td class="n" data-label="Ceiling"><Advised row={row} name="ceiling" /></td>
              <td class="n" data-label="Quota"><Advised row={row} name="quota" /></td>
              {!dependency && <td class="wide"><Reasons row={row} /></td>}
            </tr>
          ))}
        </tbody>
      </table>
      </div>
      {dependency && <div class="pad remarks">{rows.map((row) => <Reasons key={row.dependency} row={row} />)}</div>}
      <p class="faint pad">Needed: calls in flight that the whole fleet should be allowed; for critical work about twice those that are, for optional work as many. Floor and ceiling are those of one instance. Set → <b>advised</b>.</p>
    </Panel>
  );
}
