// Small functions over the Grafana foundation SDK. They fix the house style once: every panel has a title, a
// description, a unit, a legend with last and max, and the templated data source.
import {
  AnnotationQueryBuilder, DashboardBuilder, DashboardCursorSync, DashboardLinkBuilder, DashboardLinkType,
  DatasourceVariableBuilder, FieldColorBuilder, FieldColorModeId, MappingType, QueryVariableBuilder, RowBuilder,
  ThresholdsConfigBuilder, ThresholdsMode,
  VariableRefresh, VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as TimeSeriesPanel } from '@grafana/grafana-foundation-sdk/timeseries';
import { PanelBuilder as StatPanel } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TablePanel } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as HeatmapPanel, YAxisConfigBuilder } from '@grafana/grafana-foundation-sdk/heatmap';
import {
  BigValueColorMode, BigValueGraphMode, LegendDisplayMode, LegendPlacement, ReduceDataOptionsBuilder, SortOrder,
  StackingConfigBuilder, StackingMode, TooltipDisplayMode, VizLegendOptionsBuilder, VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';

export const datasource = { type: 'prometheus', uid: '$datasource' };

/** The shortest step of every panel. Must not be shorter than the scrape interval, or rates come out empty. */
const kMinStep = '15s';

export type Query = [expr: string, legend?: string];
export type Step = [from: number | null, color: string];

const target = ([expr, legend]: Query) =>
  new DataqueryBuilder().expr(expr).legendFormat(legend ?? '').datasource(datasource);

const thresholds = (steps: Step[]) =>
  new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute)
    .steps(steps.map(([value, color]) => ({ value: value as number, color })));

/** Six of them fill a row; `span` makes others. */
export function stat(title: string, description: string, unit: string, query: Query, steps?: Step[], texts?: Record<string, string>) {
  const panel = new StatPanel().title(title).description(description).unit(unit).datasource(datasource)
    .interval(kMinStep).height(5).span(4).graphMode(texts ? BigValueGraphMode.None : BigValueGraphMode.Area)
    .colorMode(BigValueColorMode.Value).reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds)).thresholds(thresholds(steps ?? [[null, 'green']]))
    .withTarget(target(query));
  return texts
    ? panel.mappings([{ type: MappingType.ValueToText, options: Object.fromEntries(Object.entries(texts).map(([k, text], index) => [k, { text, index }])) }])
    : panel;
}

/** Areas of many lines hide each other. */
const manySeries = (queries: Query[]) => queries.length > 2 || queries.some(([, legend]) => legend?.includes('{{'));

export function graph(title: string, description: string, unit: string, ...queries: Query[]) {
  const panel = new TimeSeriesPanel().title(title).description(description).unit(unit).datasource(datasource)
    .interval(kMinStep).min(0).height(8).span(12).fillOpacity(manySeries(queries) ? 0 : 10)
    .legend(new VizLegendOptionsBuilder().displayMode(LegendDisplayMode.Table).placement(LegendPlacement.Bottom)
      .showLegend(true).calcs(['lastNotNull', 'max']).sortBy('Last *').sortDesc(true))
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending));
  for (const q of queries) panel.withTarget(target(q));
  return panel;
}

export const stacked = (panel: TimeSeriesPanel) =>
  panel.fillOpacity(40).stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'));

/** `unit` is the unit of the buckets; the cells hold counts. */
export function heatmap(title: string, description: string, unit: string, query: Query) {
  return new HeatmapPanel().title(title).description(description).unit('short').yAxis(new YAxisConfigBuilder().unit(unit))
    .datasource(datasource).interval(kMinStep).height(8).span(12).withTarget(target(query).format(PromQueryFormat.Heatmap));
}

export type Column = [name: string, unit: string, expr: string, steps?: Step[]];

/** One instant query per column; the columns are joined on the labels that the queries have in common. */
export function table(title: string, description: string, keys: string[], columns: Column[]) {
  const panel = new TablePanel().title(title).description(description).unit('short').datasource(datasource).height(9).span(24);
  const rename: Record<string, string> = {};
  columns.forEach(([name, unit, expr, steps], i) => {
    const ref = String.fromCharCode(65 + i);
    panel.withTarget(target([expr]).refId(ref).instant().format(PromQueryFormat.Table));
    rename[columns.length > 1 ? `Value #${ref}` : 'Value'] = name;
    panel.overrideByName(name, [
      { id: 'unit', value: unit }, { id: 'decimals', value: unit === 'short' ? 0 : 1 },
      ...(steps ? [{ id: 'custom.cellOptions', value: { type: 'color-text' } },
        { id: 'thresholds', value: { mode: 'absolute', steps: steps.map(([value, color]) => ({ value, color })) } },
        { id: 'color', value: { mode: 'thresholds' } }] : []),
    ]);
  });
  const indexByName = Object.fromEntries([...keys, ...Object.keys(rename)].map((k, i) => [k, i]));
  return panel.withTransformation({ id: 'merge', options: {} })
    .withTransformation({ id: 'organize', options: { excludeByName: { Time: true }, indexByName, renameByName: rename } });
}

const fixed = (color: string) => [{ id: 'color', value: { mode: 'fixed', fixedColor: color } }];

/** The same word has the same colour on every panel. Calm ones mean that all is well. */
const kColors: Record<string, string> = {
  admitted: 'green', rejected: 'red', limit: 'red', queue_full: 'orange', deadline: 'yellow', breaker_open: 'purple',
  draining: 'blue', tenant: 'light-red', algorithm: 'purple', quota: 'orange', floor: '#888888', ceiling: 'light-blue',
  override: 'yellow', fallback: 'red', lease: 'green', base: 'orange', reserve: 'red', none: '#888888', closed: 'green',
  open: 'red', half_open: 'orange', forced_open: 'dark-red', disabled: '#888888', enforce: 'green', observe: 'blue',
  used: 'green', too_few_samples: 'yellow', not_saturated: 'blue', stale: 'red', ok: 'green', error: 'red',
  timeout: 'orange', overload: 'purple', cancelled: 'blue', unknown_session: 'orange', baseline: 'green', window: 'blue',
  p50: 'light-green', p90: 'yellow', p99: 'orange', capacity: 'blue', granted: 'green', reserved: 'orange',
  wanted: 'purple', unallocated: 'green', orphaned: 'orange', draining_quota: 'yellow',
};

/** Colours the named series by their meaning. */
export function colored(panel: TimeSeriesPanel, ...names: string[]) {
  for (const name of names) panel.overrideByName(name, fixed(kColors[name]));
  return panel;
}

/** Line styles by series name, so that the same quantity looks the same on every panel. */
export function limitStyles(panel: TimeSeriesPanel) {
  const line = (color: string, dash: number[] | null, fill: number) => [
    { id: 'color', value: { mode: 'fixed', fixedColor: color } },
    { id: 'custom.fillOpacity', value: fill },
    { id: 'custom.lineInterpolation', value: 'stepAfter' },
    { id: 'custom.lineWidth', value: fill ? 1 : 2 },
    ...(dash ? [{ id: 'custom.lineStyle', value: { fill: 'dash', dash } }] : []),
  ];
  return panel
    .overrideByName('in flight', line('green', null, 30)).overrideByName('peak in flight', line('semi-dark-green', [2, 4], 0))
    .overrideByName('enforced', line('blue', [10, 6], 0)).overrideByName('algorithm', line('purple', [2, 4], 0))
    .overrideByName('quota share', line('orange', [6, 6], 0))
    .overrideByName('floor', line('#888888', null, 0));
}

export function queryVariable(name: string, label: string, query: string) {
  return new QueryVariableBuilder(name).label(label).datasource(datasource)
    .query(query as never) // the SDK's type wants an object; Grafana and its schema take the string
    .refresh(VariableRefresh.OnTimeRangeChanged).sort(VariableSort.AlphabeticalAsc)
    .multi(true).includeAll(true).allValue('.+')
    .current({ selected: true, text: ['All'], value: ['$__all'] } as never);
}

export function annotation(name: string, color: string, expr: string, title: string) {
  return new AnnotationQueryBuilder().name(name).datasource(datasource).enable(true).iconColor(color)
    .expr(expr).titleFormat(title).step('15s');
}

export function dashboard(uid: string, title: string, description: string, variables: QueryVariableBuilder[]) {
  const b = new DashboardBuilder(`Plimsoll / ${title}`).uid(uid).description(description).tags(['plimsoll']).readonly()
    .refresh('10s').time({ from: 'now-1h', to: 'now' }).timezone('browser').tooltip(DashboardCursorSync.Crosshair)
    .link(new DashboardLinkBuilder('Plimsoll').type(DashboardLinkType.Dashboards).tags(['plimsoll'])
      .asDropdown(true).includeVars(true).keepTime(true))
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'));
  for (const v of variables) b.withVariable(v);
  return b;
}

export const row = (title: string) => new RowBuilder(title);

/** The SDK numbers neither panels nor targets and emits some defaults that only make diffs noisy. */
export function finish(b: DashboardBuilder): string {
  const d = JSON.parse(JSON.stringify(b.build()));
  d.panels.forEach((p: any, i: number) => {
    p.id = i + 1;
    (p.targets ?? []).forEach((t: any, j: number) => { t.refId ??= String.fromCharCode(65 + j); });
  });
  for (const v of d.templating.list) for (const k of ['auto', 'auto_min', 'auto_count']) delete v[k];
  return JSON.stringify(d, null, 2) + '\n';
}
