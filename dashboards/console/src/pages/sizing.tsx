import { useEffect } from 'preact/hooks';
import { signal } from '@preact/signals';
import { Problem } from '../api';
import { count, rate, seconds } from '../format';
import { useReader } from '../resource';
import { get } from '../api';
import { dependencyHref } from '../router';
import { Panel } from '../ui';
import { List, SizingRow } from '../types';

// Whether this controller gives advice; asked once.
const known = signal<boolean | undefined>(undefined);

function advised(row: SizingRow, name: 'floor' | 'ceiling' | 'quota'): string {
  return count(row.advised?.[name] ?? row[name]);
}

// What Little's law says floors, ceilings and quotas should be. Nothing if the controller has none.
export function Sizing({ dependency }: { dependency?: string }) {
  const advice = useReader<List<SizingRow>>(known.value === false ? null : `/v1/sizing|${dependency ?? ''}`, (etag) => get(`/v1/sizing`, etag), { every: 15_000 });
  const missing = advice.problem instanceof Problem && advice.problem.status === 404;
  useEffect(() => { if (missing) known.value = false; }, [missing]);
  const rows = (advice.data?.items ?? []).filter((row) => !dependency || row.dependency === dependency);
  if (rows.length === 0) return null;
  return (
    <Panel title="Sizing advice" aside={<span class="faint">calls in flight = arrivals per second × latency, with headroom</span>} class="flush" id="sizing">
      <table class="grid loose" aria-label="Sizing advice">
        <thead><tr><th scope="col">Dependency</th><th scope="col" class="n">Arrivals/s</th><th scope="col" class="n">Mean</th><th scope="col" class="n">p99</th><th scope="col" class="n">Floor</th><th scope="col" class="n">Ceiling</th><th scope="col" class="n">Quota</th><th scope="col" class="wide">Why</th></tr></thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.dependency}>
              <td><a href={dependencyHref(row.dependency)}>{row.dependency}</a></td>
              <td class="n">{rate(row.arrivals_per_second ?? row.arrival_rate)}</td>
              <td class="n">{seconds(row.latency_mean_seconds)}</td>
              <td class="n">{seconds(row.latency_p99_seconds)}</td>
              <td class="n">{advised(row, 'floor')}</td>
              <td class="n">{advised(row, 'ceiling')}</td>
              <td class="n">{advised(row, 'quota')}</td>
              <td class="wide">{row.why}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
