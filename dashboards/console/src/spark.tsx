// A small graph for a row: in flight as an area under the limit.
import { History } from './history';

const WIDTH = 132;
const HEIGHT = 28;

function points(values: (number | null | undefined)[], top: number): [number, number][] {
  const step = values.length > 1 ? WIDTH / (values.length - 1) : WIDTH;
  const out: [number, number][] = [];
  values.forEach((value, i) => {
    if (value !== null && value !== undefined) out.push([i * step, HEIGHT - 1 - (HEIGHT - 3) * (value / top)]);
  });
  return out;
}

const line = (list: [number, number][]) => list.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');

export function Spark({ history, limited }: { history: History | undefined; limited: boolean }) {
  if (!history || history.times.length < 2) return <svg class="spark" width={WIDTH} height={HEIGHT} aria-hidden="true" />;
  const flight = history.columns.in_flight ?? [];
  const limit = limited ? history.columns.enforced ?? [] : [];
  const top = 1.1 * Math.max(1, ...flight.map((v) => v ?? 0), ...limit.map((v) => v ?? 0));
  const area = points(flight, top);
  return (
    <svg class="spark" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      {area.length > 1 && <path class="area" d={`${line(area)}L${area.at(-1)![0]} ${HEIGHT}L${area[0]![0]} ${HEIGHT}Z`} />}
      {area.length > 1 && <path class="flight" d={line(area)} />}
      {limit.length > 0 && <path class="limit" d={line(points(limit, top))} />}
    </svg>
  );
}
