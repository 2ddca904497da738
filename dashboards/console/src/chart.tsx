// Graphs over time with one cursor for all, drawn by uPlot.
import { useEffect, useRef, useState } from 'preact/hooks';
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
  loose?: boolean; // may leave the graph at its top: what one wants must not press what one has flat
}
export interface Marker { time: number; value: number | null; id: string; text: string; down: boolean }
// What the limit may be: a quiet band from floor to ceiling, and a firm line for the quota.
export interface Bounds { floor: number; ceiling: number; quota: number | null; before: QuotaBefore[] }
// The quota was this until then, in seconds since 1970; null if it is not known, or there was none. Newest first.
export interface QuotaBefore { value: number | null; until: number }

interface Props {
  label: string;
  times: number[];
  columns: Record<string, (number | null)[]>;
  lines: Line[];
  unit: 'count' | 'seconds' | 'rate';
  height?: number;
  markers?: Marker[];
  bounds?: Bounds;
  span: number; // seconds shown
  marked?: string; // id of the marker to stress
  stress?: (id: string | undefined) => void; // a marker has the focus
  gutter?: number; // room for names at the right
}

const FORMATS = { count, rate, seconds };
const MARK = 5.5;
const WHOLE = [1, 2, 5].flatMap((n) => [0, 1, 2, 3, 4, 5, 6].map((p) => n * 10 ** p)).sort((a, b) => a - b);

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

const LOOSE = 1.7; // of what is in use, the most that a loose line may stretch the graph to

const most = (columns: Props['columns'], lines: Line[]) => lines.reduce((top, line) => (columns[line.metric] ?? []).reduce<number>((max, v) => Math.max(max, v ?? 0), top), 0);

// The quota is always on the graph; floor and ceiling are, if they are not far above all that happens.
function topOf({ columns, lines, bounds }: Props): number {
  const used = Math.max(most(columns, lines.filter((line) => !line.loose)), bounds?.quota ?? 0);
  const near = [bounds?.floor ?? 0, bounds?.ceiling ?? 0].filter((bound) => used === 0 || bound <= LOOSE * used);
  const all = Math.max(used, most(columns, lines.filter((line) => line.loose)), ...near);
  const top = used > 0 ? Math.min(all, LOOSE * used) : all;
  return top > 0 ? top * 1.12 : 1;
}

// Below the lines.
function drawBounds(plot: uPlot, { floor, ceiling, quota, before }: Bounds): void {
  const { ctx, bbox } = plot;
  const at = (value: number) => Math.round(Math.min(bbox.top + bbox.height, Math.max(bbox.top, plot.valToPos(value, 'y', true))));
  const right = bbox.left + bbox.width;
  const line = (value: number, width: number, from = bbox.left, to = right) => {
    const y = at(value);
    if (y > bbox.top && to > from) ctx.fillRect(from, y - width / 2, to - from, width);
  };
  ctx.save();
  ctx.fillStyle = resolve('--muted');
  ctx.globalAlpha = 0.1;
  ctx.fillRect(bbox.left, at(ceiling), bbox.width, at(floor) - at(ceiling));
  ctx.globalAlpha = 0.5;
  line(floor, devicePixelRatio);
  line(ceiling, devicePixelRatio);
  ctx.globalAlpha = 1;
  ctx.fillStyle = resolve('--text');
  let end = right;
  let value = quota;
  for (const was of before) {
    const x = Math.min(end, Math.max(bbox.left, plot.valToPos(was.until, 'x', true)));
    if (value !== null) line(value, 3 * devicePixelRatio, x, end);
    end = x;
    value = was.value;
  }
  if (value !== null) line(value, 3 * devicePixelRatio, bbox.left, end);
  ctx.restore();
}

// Right of the graph, where no line can cross them; none covers another.
function labelBounds(plot: uPlot, { floor, ceiling, quota }: Bounds): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const line = 13 * ratio;
  const all: [number, string, boolean][] = [[ceiling, `ceiling ${ceiling}`, false], [floor, `floor ${floor}`, false]];
  if (quota !== null) all.push([quota, `quota ${quota}`, true]);
  const seen = all.filter(([value]) => value <= (plot.scales.y!.max ?? 0)).sort((a, b) => b[0] - a[0]);
  ctx.save();
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  let before = -Infinity;
  for (const [value, text, firm] of seen) {
    const y = Math.max(plot.valToPos(value, 'y', true), before + line);
    before = y;
    ctx.fillStyle = resolve(firm ? '--text' : '--muted');
    ctx.font = `${firm ? 600 : 400} ${11 * ratio}px system-ui, sans-serif`;
    ctx.fillText(text, bbox.left + bbox.width + 6 * ratio, y);
  }
  ctx.restore();
}

function middleOf(plot: uPlot, marker: Marker, size: number, pixels: boolean): number {
  const ratio = pixels ? devicePixelRatio : 1;
  const top = pixels ? plot.bbox.top : 0;
  const y = marker.value === null ? top + 8 * ratio : plot.valToPos(marker.value, 'y', pixels);
  return Math.max(y - (size + 4) * ratio, top + size * ratio); // above the line that it is about
}

function drawMarkers(plot: uPlot, markers: Marker[], stressed: string | undefined): void {
  const { ctx } = plot;
  const ratio = devicePixelRatio;
  const down = resolve('--red');
  const up = resolve('--accent');
  ctx.save();
  ctx.setLineDash([]); // what a line left behind
  for (const marker of markers) {
    const x = plot.valToPos(marker.time, 'x', true);
    if (x < plot.bbox.left || x > plot.bbox.left + plot.bbox.width) continue;
    const size = (marker.id === stressed ? MARK + 3 : MARK) * ratio;
    const way = marker.down ? 1 : -1;
    const middle = middleOf(plot, marker, size / ratio, true);
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
  const stops = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<string>();
  const { lines, unit, height = 190, label, markers = [], bounds } = props;
  const format = FORMATS[unit];
  const stop = markers.find((marker) => marker.id === focused) ?? markers.at(-1);

  const tell = (index: number | null | undefined) => {
    const { columns, times } = latest.current;
    const at = index ?? times.length - 1;
    legend.current?.querySelectorAll('b').forEach((cell, i) => {
      cell.textContent = format(columns[lines[i]!.metric]?.[at]);
    });
  };
  const place = (u: uPlot, marker: Marker | undefined) => {
    const box = tip.current;
    const element = host.current;
    if (!box || !element) return;
    box.hidden = !marker;
    if (!marker) return;
    box.textContent = marker.text;
    const x = u.valToPos(marker.time, 'x');
    const flip = x > u.over.clientWidth / 2;
    box.style.left = flip ? '' : `${u.over.offsetLeft + x + 12}px`;
    box.style.right = flip ? `${element.clientWidth - u.over.offsetLeft - x + 12}px` : '';
    box.style.maxWidth = `${Math.max(140, Math.min(330, (flip ? u.over.offsetLeft + x : element.clientWidth - u.over.offsetLeft - x) - 16))}px`;
  };
  const showTip = (u: uPlot) => {
    const left = u.cursor.left ?? -1;
    const marker = left >= 0 ? nearest(latest.current.markers ?? [], u, left) : undefined;
    u.over.style.cursor = marker ? 'pointer' : '';
    place(u, marker);
  };
  // The marks are drawn; what can have the focus lies over them.
  const arrange = (u: uPlot) => {
    const shown = new Map((latest.current.markers ?? []).map((marker) => [marker.id, marker]));
    stops.current?.querySelectorAll<HTMLElement>('a').forEach((stop) => {
      const marker = shown.get(stop.dataset.id ?? '');
      if (!marker) return;
      const x = u.valToPos(marker.time, 'x');
      stop.hidden = x < 0 || x > u.over.clientWidth;
      stop.style.left = `${u.over.offsetLeft + x}px`;
      stop.style.top = `${u.over.offsetTop + middleOf(u, marker, MARK, false)}px`;
    });
  };
  // One stop for Tab; arrows go from mark to mark.
  const onKey = (event: KeyboardEvent) => {
    const all = [...(stops.current?.querySelectorAll<HTMLElement>('a:not([hidden])') ?? [])];
    const at = all.indexOf(event.target as HTMLElement);
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    all[Math.max(0, Math.min(all.length - 1, next))]?.focus();
  };
  const focus = (marker: Marker | undefined) => {
    setFocused(marker?.id);
    latest.current.stress?.(marker?.id);
    if (plot.current) place(plot.current, marker);
  };

  useEffect(() => {
    const element = host.current!;
    const axis = { stroke: resolve('--muted'), grid: { stroke: resolve('--grid'), width: 1 }, ticks: { show: false }, font: '11px system-ui, sans-serif' };
    const options: uPlot.Options = {
      width: element.clientWidth, height, legend: { show: false },
      padding: [8, latest.current.gutter ?? 18, 0, 0],
      cursor: { sync: { key: 'plimsoll' }, y: false, points: { size: 6 }, drag: { x: false, y: false } },
      scales: { x: { time: true }, y: { range: () => [0, topOf(latest.current)] } },
      axes: [
        { ...axis, space: 70, size: 28, values: [[3600, '{HH}:{mm}', null, null, null, null, null, null, 1], [60, '{HH}:{mm}', null, null, null, null, null, null, 1], [1, '{HH}:{mm}:{ss}', null, null, null, null, null, null, 1]] },
        { ...axis, size: 58, space: 34, incrs: unit === 'count' ? WHOLE : undefined, values: (_u, ticks) => ticks.map((v) => format(v)) },
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
        drawClear: [(u) => { if (latest.current.bounds) drawBounds(u, latest.current.bounds); }],
        draw: [(u) => {
          if (latest.current.bounds) labelBounds(u, latest.current.bounds);
          drawMarkers(u, latest.current.markers ?? [], latest.current.marked);
          arrange(u);
        }],
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
  }, [theme.value, lines, height, unit, props.gutter]);

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
          {bounds && bounds.quota !== null && <li><svg width="18" height="8" aria-hidden="true"><path class="firm" d="M0 4h18" /></svg>quota <span class="value">{bounds.quota}</span></li>}
          {bounds && <li><svg width="18" height="10" aria-hidden="true"><rect class="band" width="18" height="10" /></svg>floor to ceiling <span class="value">{bounds.floor} – {bounds.ceiling}</span></li>}
          {markers.length > 0 && <li><span class="change down"><span aria-hidden="true">▼</span></span> <span class="change up"><span aria-hidden="true">▲</span></span> decisions</li>}
        </ul>
      </figcaption>
      <div class="plot-frame">
        <div class="plot" ref={host} role="img" aria-label={`${label} over time`} />
        {markers.length > 0 && (
          <div class="stops" ref={stops} role="group" aria-label="Decisions on the graph, arrow keys go from one to the next" onKeyDown={onKey}>
            {markers.map((marker) => (
              <a key={marker.id} data-id={marker.id} href={eventHref(marker.id)} aria-label={marker.text} tabIndex={marker === stop ? 0 : -1}
                onFocus={() => focus(marker)} onBlur={() => focus(undefined)} />
            ))}
          </div>
        )}
        <div class="tip" ref={tip} hidden />
      </div>
    </figure>
  );
}
