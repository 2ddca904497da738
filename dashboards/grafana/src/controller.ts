// The controller itself: sessions, decisions, API, configuration, store.
import { annotation, colored, dashboard, graph, row, stacked, stat, table } from './lib.ts';
import { controllerVariables, K, quantile, RATE, rate, ratio } from './queries.ts';

const one = (metric: string) => `plimsoll_controller_${metric}{${K}}`;
const perSecond = (metric: string) => rate(`plimsoll_controller_${metric}`, K);
const byDependency = (metric: string) => `max by (dependency) (${one(metric)})`;
const shards = `max by (shard) (${one('shard_has_leader')})`;
const both = (metric: string): [string, string][] =>
  [[quantile(0.5, `plimsoll_controller_${metric}`, K), 'p50'], [quantile(0.99, `plimsoll_controller_${metric}`, K), 'p99']];

export const controller = dashboard('plimsoll-controller', 'Controller',
  'The controller itself: sessions, decisions, API, configuration, store.', controllerVariables())
  .annotation(annotation('Restart', 'blue', `changes(process_start_time_seconds{${K}}${RATE}) > 0`, '{{instance}} restarted'))
  .annotation(annotation('Configuration', 'green',
    `changes(plimsoll_controller_config_last_reload_success_timestamp_seconds{${K}}${RATE}) > 0`, '{{instance}} read its configuration'))
  .withRow(row('Now'))
  .withPanel(stat('Leaders', 'Of each shard: must be 1. Without shards: of all.', 'short',
    [`(${ratio(`sum(${one('shards_owned')})`, `count(${shards})`)}) or sum(${one('leader')})`], [[null, 'red'], [1, 'green'], [1.001, 'red']]))
  .withPanel(stat('Sessions', 'Open agent sessions.', 'short', [`sum(${one('sessions')})`]))
  .withPanel(stat('Expired agents', 'Agents dropped for silence in the last step.', 'short',
    [`sum(increase(plimsoll_controller_instances_expired_total{${K}}${RATE}))`], [[null, 'green'], [1, 'orange']]))
  .withPanel(stat('Last reload', 'Whether the last load of the configuration succeeded.', 'short',
    [`min(${one('config_last_reload_successful')})`], [[null, 'red'], [1, 'green']], { '0': 'failed', '1': 'ok' }))
  .withPanel(stat('Overrides', 'Overrides in force.', 'short', [`sum(${one('overrides')})`], [[null, 'green'], [1, 'orange']]))
  .withPanel(stat('Learning', 'Dependencies whose shares are not raised yet, because the state was lost.', 'short',
    [`sum(${one('learning')})`], [[null, 'green'], [1, 'orange']]))
  .withRow(row('Leadership'))
  .withPanel(stacked(graph('Shards led', 'By controller; without shards 1 for the leader.', 'short',
    [`sum by (instance) (${one('shards_owned')})`, '{{instance}}'])))
  .withPanel(graph('Shards without a leader', 'No controller leads them or knows who does.', 'short',
    [`count(${shards} == 0) or vector(0)`, 'no leader']))
  .withRow(row('Agents'))
  .withPanel(graph('Sessions', 'Open sessions, and sync requests that are being held.', 'short',
    [`sum(${one('sessions')})`, 'sessions'], [`sum(${one('held_syncs')})`, 'held syncs']))
  .withPanel(colored(stacked(graph('Syncs', 'Sync requests answered per second, by result.', 'reqps',
    [`sum by (result) (${perSecond('syncs_total')})`, '{{result}}'])), 'ok', 'unknown_session', 'rejected', 'stale'))
  .withPanel(colored(graph('Report age', 'Age of the newest report of each connected instance when the controller decides.', 's',
    ...both('report_age_seconds')), 'p50', 'p99'))
  .withPanel(colored(graph('Time to confirmation', 'From a new limit to the report that it is installed.', 's',
    ...both('push_latency_seconds')), 'p50', 'p99'))
  .withPanel(graph('Instances', 'Instances with a live session, by service.', 'short', [`sum by (service) (${one('instances')})`, '{{service}}']))
  .withPanel(graph('Expired', 'Agents dropped for silence, per second.', 'cps', [`sum(${perSecond('instances_expired_total')})`, 'expired']))
  .withRow(row('Decisions'))
  .withPanel(table('Dependencies', 'What the books of the leader say.', ['dependency'], [
    ['Quota', 'short', byDependency('quota_capacity')],
    ['Granted', 'short', byDependency('quota_granted')],
    ['Reserved', 'short', byDependency('quota_reserved')],
    ['Wanted', 'short', byDependency('quota_wanted')],
    ['Unallocated', 'short', byDependency('quota_unallocated')],
    ['Orphaned', 'short', byDependency('quota_orphaned'), [[null, 'green'], [1, 'orange']]],
    ['Algorithm', 'short', byDependency('algorithm_limit')],
    ['Window latency', 's', byDependency('window_latency_seconds')],
  ]))
  .withPanel(colored(graph('Decision time', 'Time that the core took for an event; a tick recomputes all dependencies.', 's',
    ...both('decision_duration_seconds')), 'p50', 'p99'))
  .withPanel(stacked(graph('Limit changes', 'Changes of grants per minute, by reason, without the steps made to learn.', 'cpm',
    [`60 * sum by (reason) (rate(plimsoll_controller_limit_changes_total{${K}, reason!="probe"}${RATE})) > 0`, '{{reason}}'])))
  .withPanel(graph('Algorithm', 'What the algorithms want, before bounds and quota.', 'short', [byDependency('algorithm_limit'), '{{dependency}}']))
  .withPanel(colored(stacked(graph('Windows', 'Windows received per second, by what became of them.', 'cps',
    [`sum by (outcome) (${perSecond('windows_total')})`, '{{outcome}}'])), 'used', 'too_few_samples', 'not_saturated', 'stale'))
  .withPanel(graph('Quota in use', 'Reserved part of each quota.', 'percentunit',
    [ratio(byDependency('quota_reserved'), byDependency('quota_capacity')), '{{dependency}}']))
  .withPanel(graph('Shares cut', 'Shares cut below the demand, per second.', 'cps',
    [`sum by (dependency) (${perSecond('quota_shares_clamped_total')})`, '{{dependency}}']))
  .withPanel(graph('Largest shares', 'The ten instances with the largest shares. Empty if there are too many for series of their own.', 'short',
    [`topk(10, ${one('instance_limit')})`, '{{dependency}} {{instance_id}}']))
  .withPanel(graph('Openings of fleet breakers', 'Openings per minute. Empty if no policy has a breaker.', 'cpm',
    [`60 * sum by (dependency) (${perSecond('breaker_opened_total')})`, '{{dependency}}']))
  .withRow(row('HTTP'))
  .withPanel(stacked(graph('Requests', 'Requests per second, by plane and status code.', 'reqps',
    [`sum by (plane, code) (${perSecond('http_requests_total')}) > 0`, '{{plane}} {{code}}'])))
  .withPanel(graph('Request time p99', 'Without held syncs and event streams; routes that were used.', 's',
    [quantile(0.99, 'plimsoll_controller_http_request_duration_seconds', K, 'plane, route') + ' >= 0', '{{plane}} {{route}}']))
  .withPanel(graph('Connections', 'Open connections of each listener.', 'short', [`sum by (plane) (${one('http_connections')})`, '{{plane}}']).span(8))
  .withPanel(graph('Turned away', 'Connections over the cap, and requests over the rate limit, per second.', 'cps',
    [`sum by (plane) (${perSecond('http_connections_refused_total')})`, '{{plane}} connections'],
    [`sum by (plane) (${perSecond('http_requests_limited_total')})`, '{{plane}} requests']).span(8))
  .withPanel(graph('Event streams', 'Open streams; refused streams and dropped events per second.', 'short', [`sum(${one('watchers')})`, 'open'],
    [`sum(${perSecond('watchers_refused_total')})`, 'refused/s'], [`sum(${perSecond('watch_events_dropped_total')})`, 'dropped events/s']).span(8))
  .withRow(row('Configuration and store'))
  .withPanel(graph('Age of the configuration', 'Time since the last successful load.', 's',
    [`time() - max by (instance) (${one('config_last_reload_success_timestamp_seconds')})`, '{{instance}}']).span(8))
  .withPanel(colored(graph('Store writes', 'Time until the state store confirmed a write.', 's', ...both('store_write_duration_seconds')).span(8), 'p50', 'p99'))
  .withPanel(graph('Store errors', 'Failed operations per second.', 'cps',
    [`sum by (operation) (${perSecond('store_errors_total')})`, '{{operation}}']).span(8))
  .withRow(row('Process'))
  .withPanel(graph('CPU', 'Cores in use.', 'short', [`sum by (instance) (rate(process_cpu_seconds_total{${K}}${RATE}))`, '{{instance}}']).span(8))
  .withPanel(graph('Memory', 'Resident memory.', 'bytes', [`sum by (instance) (process_resident_memory_bytes{${K}})`, '{{instance}}']).span(8))
  .withPanel(graph('File descriptors', 'Open descriptors divided by the limit.', 'percentunit',
    [ratio(`sum by (instance) (process_open_fds{${K}})`, `sum by (instance) (process_max_fds{${K}})`), '{{instance}}']).span(8));
