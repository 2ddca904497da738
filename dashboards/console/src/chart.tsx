// Graphs over time with one cursor for all, drawn by uPlot.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { count, rate, seconds } from './format';
import { go, eventHref } from './router';
import { theme } from './theme';

export interface Line {
  metric: string;
  label: string;
  colour: string; // a CSS variable
  dash?: number[];
  width?: number;
  fill?: boolean;
  steps?: boolean;
}
export interface Marker { time: number; value: number | null; id: string; text: string; down: boolean }
export interface Level { value: number; label: string } // a bound: a thin line with its name

interface Props {
  label: string;
  times: number[];
  columns: Record<string, (number | null)[]>;
  lines: Line[];
  unit: 'count' | 'seconds' | 'rate';
  height?: number;
  markers?: Marker[];
  levels?: Level[];
  span: number; // seconds shown
  marked?: string; // id of the marker to stress
}

const FORMATS = { count, rate, seconds };
const MARK = 5.5;

function colourOf(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || '#888';
}

// Variables of both themes are pairs; a canvas needs the one that counts.
function resolve(name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour || colourOf(name);
}

function translucent(colour: string, alpha: number): string {
  return colour.replace(/^rgb\((.*)\)$/, (_, parts) => `rgba(${parts}, ${alpha})`);
}

function nearest(markers: Marker[], plot: uPlot, left: number): Marker | undefined {
  let best: Marker | undefined;
  let distance = 14;
  for (const marker of markers) {
    const d = Math.abs(plot.valToPos(marker.time, 'x') - left);
    if (d < distance) { best = marker; distance = d; }
  }
  return best;
}

function drawLevels(plot: uPlot, levels: Level[]): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = resolve('--muted');
  ctx.lineWidth = ratio;
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  ctx.textAlign = 'left';
  for (const { value, label } of levels) {
    const y = Math.round(plot.valToPos(value, 'y', true)) + 0.5;
    if (y < bbox.top || y > bbox.top + bbox.height) continue;
    ctx.globalAlpha = 0.55;
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.fillText(label, bbox.left + 6 * ratio, y - 4 * ratio);
  }
  ctx.restore();
}

function drawMarkers(plot: uPlot, markers: Marker[], stressed: string | undefined): void {
  const { ctx } = plot;
  const ratio = devicePixelRatio;
  const down = resolve('--red');
  const up = resolve('--accent');
  ctx.save();
  for (const marker of markers) {
    const x = plot.valToPos(marker.time, 'x', true);
    if (x < plot.bbox.left || x > plot.bbox.left + plot.bbox.width) continue;
    const y = marker.value === null ? plot.bbox.top + 8 * ratio : plot.valToPos(marker.value, 'y', true);
    const size = (marker.id === stressed ? MARK + 3 : MARK) * ratio;
    const way = marker.down ? 1 : -1;
    const middle = y - size - 4 * ratio; // above the line that it is about
    ctx.beginPath();
    ctx.moveTo(x, middle + way * size);
    ctx.lineTo(x - size, middle - way * size * 0.7);
    ctx.lineTo(x + size, middle - way * size * 0.7);
    ctx.closePath();
    ctx.fillStyle = marker.down ? down : up;
    ctx.fill();
    ctx.strokeStyle = resolve('--surface');
    ctx.lineWidth = 1.5 * ratio;
    ctx.stroke();
  }
  ctx.restore();
}

export function Chart(props: Props) {
  const host = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const { lines, unit, height = 190, label } = props;
  const format = FORMATS[unit];

  const tell = (index: number | null | undefined) => {
    const { columns, times } = latest.current;
    const at = index ?? times.length - 1;
    legend.current?.querySelectorAll('b').forEach((cell, i) => {
      cell.textContent = format(columns[lines[i]!.metric]?.[at]);
    });
  };
  const showTip = (u: uPlot) => {
    const box = tip.current;
    const element = host.current;
    if (!box || !element) return;
    const left = u.cursor.left ?? -1;
    const marker = left >= 0 ? nearest(latest.current.markers ?? [], u, left) : undefined;
    box.hidden = !marker;
    u.over.style.cursor = marker ? 'pointer' : '';
    if (!marker) return;
    box.textContent = marker.text;
    const x = u.valToPos(marker.time, 'x');
    const flip = x > u.over.clientWidth / 2;
    box.style.left = flip ? '' : `${u.over.offsetLeft + x + 12}px`;
    box.style.right = flip ? `${element.clientWidth - u.over.offsetLeft - x + 12}px` : '';
  };

  useEffect(() => {
    const element = host.current!;
    const axis = { stroke: resolve('--muted'), grid: { stroke: resolve('--grid'), width: 1 }, ticks: { show: false }, font: '11px system-ui, sans-serif' };
    const options: uPlot.Options = {
      width: element.clientWidth, height, legend: { show: false },
      padding: [8, 18, 0, 0],
      cursor: { sync: { key: 'plimsoll' }, y: false, points: { size: 6 }, drag: { x: false, y: false } },
      scales: { x: { time: true }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.12 : 1] } },
      axes: [
        { ...axis, space: 70, size: 28, values: [[3600, '{HH}:{mm}', null, null, null, null, null, null, 1], [60, '{HH}:{mm}', null, null, null, null, null, null, 1], [1, '{HH}:{mm}:{ss}', null, null, null, null, null, null, 1]] },
        { ...axis, size: 58, space: 34, values: (_u, ticks) => ticks.map((v) => format(v)) },
      ],
      series: [{}, ...lines.map((line): uPlot.Series => {
        const colour = resolve(line.colour);
        return {
          label: line.label, stroke: colour, width: line.width ?? 1.5, dash: line.dash, spanGaps: false,
          fill: line.fill ? translucent(colour, 0.18) : undefined, points: { show: false },
          paths: line.steps ? uPlot.paths.stepped!({ align: 1 }) : undefined,
        };
      })],
      hooks: {
        draw: [(u) => drawLevels(u, latest.current.levels ?? []), (u) => drawMarkers(u, latest.current.markers ?? [], latest.current.marked)],
        setCursor: [(u) => { tell(u.cursor.idx); showTip(u); }],
      },
    };
    const u = new uPlot(options, [[], ...lines.map(() => [])] as uPlot.AlignedData, element);
    u.over.addEventListener('click', () => {
      const marker = nearest(latest.current.markers ?? [], u, u.cursor.left ?? -1);
      if (marker) go(eventHref(marker.id));
    });
    plot.current = u;
    const resize = new ResizeObserver(() => u.setSize({ width: element.clientWidth, height }));
    resize.observe(element);
    return () => { resize.disconnect(); u.destroy(); };
  }, [theme.value, lines, height, unit]);

  useEffect(() => {
    const u = plot.current!;
    const { times, columns, span } = latest.current;
    const end = times.at(-1) ?? Date.now() / 1000;
    u.setData([times, ...lines.map((line) => columns[line.metric] ?? times.map(() => null))] as uPlot.AlignedData, false);
    u.setScale('x', { min: end - span, max: end });
    if (u.cursor.idx === null || u.cursor.idx === undefined) tell(null);
  });

  return (
    <figure class="chart">
      <figcaption>
        <h3>{label}</h3>
        <ul class="legend" ref={legend}>
          {lines.map((line) => (
            <li key={line.metric}>
              <svg width="18" height="8" aria-hidden="true">
                {line.fill && <rect class={`k${line.colour.slice(1)} area`} width="18" height="8" />}
                <path class={`k${line.colour.slice(1)}`} d="M0 4h18" stroke-dasharray={line.dash?.join(' ')} />
              </svg>
              {line.label} <b>–</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <div class="plot" ref={host} role="img" aria-label={`${label} over time`}>
        <div class="tip" ref={tip} hidden />
      </div>
    </figure>
  );
}
