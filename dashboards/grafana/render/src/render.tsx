// Draws a dashboard file with Grafana's own front-end libraries, without a Grafana server: ../server.mjs serves it.
// Parameters of the page: uid, theme, from, to, step (the shortest one, in seconds), refresh.
// Variables, interpolation, units, thresholds, overrides, legends, transformations and drawing are Grafana's.
// The panel plug-ins live in Grafana's core and are not on npm; the thin components below stand in for them.
import React from 'react';
import { createRoot } from 'react-dom/client';
import { MemoryRouter } from 'react-router-dom';
import { Observable, from, map, of } from 'rxjs';
import * as D from '@grafana/data';
import * as R from '@grafana/runtime';
import * as S from '@grafana/scenes';
import * as U from '@grafana/ui';
import * as Unstable from '@grafana/ui/unstable';
import { initPluginTranslations } from '@grafana/i18n';

const win = window as any;
const parameters = new URLSearchParams(location.search);
const uid = parameters.get('uid') ?? 'plimsoll-overview';
const minStep = Number(parameters.get('step') ?? 15);
const kDashboards = ['overview', 'dependency', 'instance', 'controller'];
const errors: string[] = (win.__errors = []);
const queries: string[] = (win.__queries = []);

// ---- Data source: Prometheus over its HTTP API -------------------------------------------------------------------

async function api(path: string, params: any) {
  const answer = await (await fetch('/prometheus' + path + '?' + new URLSearchParams(params))).json();
  if (answer.status !== 'success') throw new Error(answer.error);
  return answer.data;
}

const joinValues = (v: any) => (Array.isArray(v) ? '(' + v.join('|') + ')' : v);

function seriesName(legend: string, labels: Record<string, string>) {
  if (legend) return legend.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, k) => labels[k] ?? '');
  const rest = Object.entries(labels).filter(([k]) => k !== '__name__').map(([k, v]) => `${k}="${v}"`);
  return (labels.__name__ ?? '') + '{' + rest.join(', ') + '}';
}

const meta = { id: 'prometheus', name: 'Prometheus', info: { logos: { small: '', large: '' } }, baseUrl: '', module: '', type: 'datasource' };
const settings = { id: 1, uid: 'prom', type: 'prometheus', name: 'Prometheus', url: '/prometheus', access: 'proxy', readOnly: true, jsonData: {}, meta };

class Prometheus extends D.DataSourceApi<any> {
  constructor() { super(settings as any); this.meta = meta as any; }

  query(request: any): Observable<D.DataQueryResponse> { return from(this.run(request)); }

  private async run(request: any): Promise<any> {
    win.__pending = (win.__pending ?? 0) + 1;
    try { return await this.answer(request); } finally { win.__pending--; }
  }

  private async answer(request: any): Promise<any> {
    const step = Math.max(minStep, Math.ceil(request.intervalMs / 1000));
    const rate = Math.max(step + minStep, 4 * minStep, 10) + 's';
    const value = (text: string) => ({ value: text, text });
    const scoped = { ...request.scopedVars, __rate_interval: value(rate), __interval: value(step + 's'), __range: value(Math.round((request.range.to.valueOf() - request.range.from.valueOf()) / 1000) + 's') };
    const data: D.DataFrame[] = [];
    for (const t of request.targets) {
      const expr = R.getTemplateSrv().replace(t.expr, scoped, joinValues);
      queries.push(expr);
      try {
        const instant = t.instant || t.format === 'table';
        const end = request.range.to.valueOf() / 1000, start = request.range.from.valueOf() / 1000;
        const { result } = instant ? await api('/api/v1/query', { query: expr, time: end }) : await api('/api/v1/query_range', { query: expr, start, end, step });
        if (!result.length) errors.push('EMPTY ' + expr);
        if (instant) data.push(this.tableFrame(t, result, request.targets.length > 1));
        else for (const r of result) data.push(this.timeFrame(t, r));
      } catch (e: any) { errors.push(`QUERY ${expr}: ${e.message}`); }
    }
    return { data, state: D.LoadingState.Done, key: 'k' + Math.random() };
  }

  private tableFrame(t: any, result: any[], several: boolean) {
    const keys = [...new Set(result.flatMap((r) => Object.keys(r.metric)))] as string[];
    return D.toDataFrame({ refId: t.refId, fields: [
      { name: 'Time', type: D.FieldType.time, values: result.map((r) => r.value[0] * 1000) },
      ...keys.map((k) => ({ name: k, type: D.FieldType.string, values: result.map((r) => r.metric[k]) })),
      { name: several ? `Value #${t.refId}` : 'Value', type: D.FieldType.number, values: result.map((r) => +r.value[1]) }] });
  }

  private timeFrame(t: any, r: any) {
    const name = seriesName(t.legendFormat, r.metric);
    return D.toDataFrame({ refId: t.refId, name, fields: [
      { name: 'Time', type: D.FieldType.time, values: r.values.map((v: any) => v[0] * 1000) },
      { name: 'Value', type: D.FieldType.number, labels: r.metric, config: { displayNameFromDS: name }, values: r.values.map((v: any) => +v[1]) }] });
  }

  async metricFindQuery(q: any) {
    const text = R.getTemplateSrv().replace(typeof q === 'string' ? q : q.query, {}, joinValues);
    const [, inner, label] = /label_values\((.*),\s*(\w+)\)$/.exec(text)!;
    const values = await api(`/api/v1/label/${label}/values`, { 'match[]': inner });
    if (!values.length) errors.push('EMPTY ' + text);
    return values.map((x: string) => ({ text: x, value: x }));
  }
  async testDatasource() { return { status: 'success', message: '' }; }
}

// ---- What a Grafana server would inject ----------------------------------------------------------------------------

const source = new Prometheus();
R.setDataSourceSrv({ get: async () => source, getList: () => [settings], getInstanceSettings: () => settings, reload() {}, registerRuntimeDataSource() {} } as any);
R.setTemplateSrv({ replace: (s: string, v: any, f: any) => S.sceneGraph.interpolate(win.__scene, s, v, f), getVariables: () => [], containsTemplate: (s: string) => /\$/.test(s ?? ''), updateTimeRange() {} } as any);
R.setRunRequest(((d: any, request: any) => d.query(request).pipe(map((r: any) => ({ state: D.LoadingState.Done, series: r.data, timeRange: request.range, request })))) as any);
R.setAppEvents?.(new D.EventBusSrv() as any);
R.setBackendSrv({ get: async () => ({}), fetch: () => of({ data: {} }) } as any);
R.setEchoSrv({ addEvent() {}, addBackend() {}, flush() {} } as any);
R.setCurrentUser?.({} as any);
for (const hook of ['setPluginLinksHook', 'setPluginComponentsHook', 'setPluginFunctionsHook'])
  (R as any)[hook]?.(() => ({ links: [], components: [], functions: [], isLoading: false }));
(R as any).setPluginComponentHook?.(() => ({ component: null, isLoading: false }));

// Field options. Without entries here, units, colours, thresholds and overrides are silently dropped.
// The category must not be empty, or the registry reports a duplicate key.
const option = (id: string, more: any = {}) => ({ id, path: id, name: id, category: ['Standard options'], editor: () => null, override: () => null, process: (v: any) => v, shouldApply: () => true, settings: {}, ...more });
D.standardFieldConfigEditorRegistry.setInit(() => [
  ...['unit', 'min', 'max', 'decimals', 'displayName', 'links', 'actions', 'noValue', 'filterable', 'mappings', 'fieldMinMax', 'description'].map((x) => option(x)),
  option('color', { defaultValue: { mode: 'palette-classic' } }),
  option('thresholds', { process: D.thresholdsOverrideProcessor, defaultValue: { mode: 'absolute', steps: [{ value: -Infinity, color: 'green' }] } }),
] as any);
const transformers = new Map(Object.values(D.standardTransformers).map((t: any) => [t.id, { id: t.id, name: t.name, transformation: async () => t, editor: () => null }]));
D.standardTransformersRegistry.setInit(() => [...transformers.values()] as any);

// ---- Stand-ins for the core panel plug-ins ---------------------------------------------------------------------------

const TimeSeries = (p: D.PanelProps<any>) => (
  <U.TimeSeries frames={p.data.series} structureRev={p.data.structureRev} timeRange={p.timeRange} timeZone="utc" width={p.width} height={p.height} legend={p.options.legend} options={p.options}>{() => null as any}</U.TimeSeries>
);
const Stat = (p: D.PanelProps<any>) => {
  const theme = D.createTheme();
  const values = D.getFieldDisplayValues({ fieldConfig: p.fieldConfig, reduceOptions: p.options.reduceOptions, replaceVariables: p.replaceVariables, theme, data: p.data.series, sparkline: true, timeZone: 'utc' } as any);
  return <U.VizRepeater values={values} width={p.width} height={p.height} orientation={D.VizOrientation.Auto} getValues={() => values} source={p.data} renderCounter={p.renderCounter} autoGrid
    renderValue={(r: any) => <U.BigValue value={r.value.display} sparkline={r.value.sparkline} width={r.width} height={r.height} theme={theme} colorMode={p.options.colorMode ?? U.BigValueColorMode.Value} graphMode={p.options.graphMode} justifyMode={U.BigValueJustifyMode.Auto} textMode={U.BigValueTextMode.Auto} />} />;
};
const Table = (p: D.PanelProps<any>) => {
  const [frame] = p.data.series;
  if (!frame) return <div>No data</div>;
  const named = { ...frame, fields: frame.fields.map((f) => ({ ...f, name: D.getFieldDisplayName(f, frame) })) };
  return <Unstable.TableNG data={named} width={p.width} height={p.height} columnMinWidth={60} timeRange={p.timeRange} structureRev={1} />;
};
const Text = (p: D.PanelProps<any>) => <div>{p.options.content}</div>;

const kGraphDefaults = {
  drawStyle: 'line', lineWidth: 1, fillOpacity: 0, lineInterpolation: 'linear', lineStyle: { fill: 'solid' }, showPoints: 'never', pointSize: 5, axisPlacement: 'auto',
  gradientMode: 'none', spanNulls: false, axisBorderShow: false, stacking: { mode: 'none', group: 'A' }, thresholdsStyle: { mode: 'off' },
  scaleDistribution: { type: 'linear' }, hideFrom: { tooltip: false, viz: false, legend: false },
};
function plugin(id: string, component: any, custom: Record<string, unknown> = {}) {
  const x = new D.PanelPlugin(component);
  x.useFieldConfig({ useCustomConfig: (b: any) => { for (const [k, v] of Object.entries(custom)) b.addCustomEditor({ id: k, path: k, name: k, category: ['Graph styles'], defaultValue: v, editor: () => null, override: () => null, process: (y: any) => y, shouldApply: () => true }); } } as any);
  x.meta = { id, name: id, info: { logos: {}, version: '' }, type: 'panel', module: '', baseUrl: '', sort: 1 } as any;
  return x;
}
const plugins: Record<string, D.PanelPlugin> = {
  timeseries: plugin('timeseries', TimeSeries, kGraphDefaults), heatmap: plugin('heatmap', TimeSeries, kGraphDefaults),
  stat: plugin('stat', Stat), table: plugin('table', Table, { width: undefined, minWidth: 50, align: 'auto', cellOptions: { type: 'auto' }, inspect: false }), text: plugin('text', Text),
};
R.setPluginImportUtils({
  importPanelPlugin: async (id: string) => plugins[id] ?? (errors.push('NOPLUGIN ' + id), plugins.text),
  getPanelPluginFromCache: (id: string) => plugins[id],
} as any);

// ---- Dashboard file to scene -------------------------------------------------------------------------------------------

function toScene(d: any) {
  const variables = d.templating.list.map((v: any) => v.type === 'datasource'
    ? new S.DataSourceVariable({ name: v.name, label: v.label, pluginId: v.query, value: 'prom', text: 'Prometheus' })
    : new S.QueryVariable({ name: v.name, label: v.label, datasource: v.datasource, query: v.query, isMulti: v.multi, includeAll: v.includeAll, allValue: v.allValue, value: ['$__all'], text: ['All'], refresh: v.refresh, sort: v.sort }));
  const children = d.panels.flatMap((p: any) => (p.type === 'row' ? [p, ...(p.panels ?? [])] : [p])).map((p: any) => {
    if (p.type === 'row') return new S.SceneGridRow({ key: 'row' + p.id, title: p.title, y: p.gridPos.y, isCollapsible: true, children: [] });
    const runner = new S.SceneQueryRunner({ datasource: p.datasource, queries: p.targets ?? [], maxDataPoints: 300 });
    const $data = p.transformations?.length ? new S.SceneDataTransformer({ $data: runner, transformations: p.transformations }) : runner;
    return new S.SceneGridItem({ x: p.gridPos.x, y: p.gridPos.y, width: p.gridPos.w, height: p.gridPos.h,
      body: new S.VizPanel({ title: p.title, description: p.description, pluginId: p.type, options: p.options ?? {}, fieldConfig: { defaults: p.fieldConfig?.defaults ?? {}, overrides: p.fieldConfig?.overrides ?? [] }, $data }) });
  });
  return new S.EmbeddedScene({
    $timeRange: new S.SceneTimeRange({ from: parameters.get('from') ?? 'now-30m', to: parameters.get('to') ?? 'now' }), $variables: new S.SceneVariableSet({ variables }),
    controls: [new S.VariableValueSelectors({}), new S.SceneControlsSpacer(), new S.SceneTimePicker({}),
      new S.SceneRefreshPicker({ intervals: ['5s', '10s', '1m'], refresh: parameters.get('refresh') ?? '' })],
    body: new S.SceneGridLayout({ isLazy: false, children }),
  });
}

class Boundary extends React.Component<any, any> {
  state = { error: null as any };
  static getDerivedStateFromError(error: any) { errors.push('REACT ' + error.stack); return { error }; }
  render() { return this.state.error ? <pre>{String(this.state.error.stack)}</pre> : this.props.children; }
}

// Faults that the scene keeps to itself, such as a transformation that failed.
win.__sceneFaults = () => {
  const faults: string[] = [];
  const visit = (o: any) => {
    const data = o?.state?.$data?.state?.data;
    if (o?.state?.$data && data?.state !== D.LoadingState.Done) faults.push(`LOADING ${o.state.title}`);
    for (const e of data?.errors ?? []) faults.push(`DATA ${o.state.title}: ${e.message}`);
    o.forEachChild?.(visit);
  };
  visit(win.__scene);
  return faults;
};

(async () => {
  await initPluginTranslations('grafana');
  const d = await (await fetch(`/dashboards/${uid}.json`)).json();
  const scene = (win.__scene = toScene(d));
  const theme = D.createTheme({ colors: { mode: parameters.get('theme') === 'light' ? 'light' : 'dark' } });
  createRoot(document.getElementById('root')!).render(
    <Boundary><D.ThemeContext.Provider value={theme}><U.GlobalStyles /><U.PortalContainer /><MemoryRouter>
      <div style={{ padding: 12, background: theme.colors.background.canvas, minHeight: '100vh' }}><h2>{d.title}</h2>
        <p>{kDashboards.map((name) => <a key={name} style={{ marginRight: 16, color: theme.colors.text.link }} href={`?${new URLSearchParams({ ...Object.fromEntries(parameters), uid: 'plimsoll-' + name })}`}>{name}</a>)}</p><scene.Component model={scene} /></div>
    </MemoryRouter></D.ThemeContext.Provider></Boundary>);
})();
