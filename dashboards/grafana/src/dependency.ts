// The story of one dependency: load, limit, latency, and why the limit moved.
import { annotation, colored, dashboard, graph, heatmap, limitStyles, row, stacked, stat, table } from './lib.ts';
import { A, agentVariables, C, controllerJob, latency, limitFalls, ofLeader, quantile, RATE, rate, ratio } from './queries.ts';

const rejected = rate('dependency_bulkhead_rejected_total', A);
const active = `dependency_bulkhead_active{${A}}`;
const capacity = `dependency_bulkhead_capacity{${A}}`;
const errors = rate('dependency_request_errors_total', A);
const byInstance = (metric: string) => `sum by (instance, dependency) (${metric}{${A}})`;
const total = (metric: string) => `sum(${ofLeader(metric)})`;

export const dependency = dashboard('plimsoll-dependency', 'Dependency',
  'The story of one dependency: load, limit, latency, and why the limit moved.', [...agentVariables(), controllerJob()])
  .annotation(annotation('Limit falls', 'orange', limitFalls, '{{dependency}} limit down ({{reason}})'))
  .annotation(annotation('Override', 'purple', `${ofLeader('overrides')} > 0`, '{{dependency}} override in force'))
  .annotation(annotation('Breaker', 'red', `${ofLeader('breaker_open')} > 0`, '{{dependency}} breaker open'))
  .withRow(row('Now'))
  .withPanel(stat('In flight', 'Requests in flight over the selected instances.', 'short', [`sum(${active})`]))
  .withPanel(stat('Enforced limit', 'Sum of the enforced limits.', 'short', [`sum(${capacity})`]))
  .withPanel(stat('Utilisation', 'In flight divided by the enforced limit.', 'percentunit',
    [ratio(`sum(${active})`, `sum(${capacity})`)], [[null, 'green'], [0.8, 'orange'], [0.95, 'red']]))
  .withPanel(stat('Rejected', 'Requests refused per second.', 'reqps', [`sum(${rejected})`],
    [[null, 'green'], [1, 'orange'], [100, 'red']]))
  .withPanel(stat('p99', 'Latency of admitted requests.', 's', [latency(0.99)]))
  .withPanel(stat('Failed', 'Share of the admitted requests that failed.', 'percentunit',
    [ratio(`sum(${errors})`, `sum(${rate('dependency_request_duration_seconds_count', A)})`)],
    [[null, 'green'], [0.01, 'orange'], [0.05, 'red']]))
  .withRow(row('Story'))
  .withPanel(colored(stacked(graph('Requests', 'Admitted and refused requests per second.', 'reqps',
    [`sum(${rate('plimsoll_agent_admitted_total', A)})`, 'admitted'], [`sum(${rejected})`, 'rejected'])).span(24),
  'admitted', 'rejected'))
  .withPanel(limitStyles(graph('Concurrency', 'Requests in flight, the enforced limit, and the numbers it is made of. More than that runs while a cut takes effect, and where a policy only observes.', 'short',
    [`sum(${active})`, 'in flight'], [`sum(plimsoll_agent_in_flight_max{${A}})`, 'peak in flight'],
    [`sum(${capacity})`, 'enforced'], [`sum(plimsoll_agent_algorithm_limit{${A}})`, 'algorithm'],
    [`sum(plimsoll_agent_quota_share{${A}})`, 'quota share'], [`sum(plimsoll_agent_floor{${A}})`, 'floor'])).span(24).height(10))
  .withPanel(colored(graph('Latency', 'Quantiles of admitted requests, what the last windows gave to the algorithm, and the no-load baseline of laws that have one.', 's',
    [latency(0.5), 'p50'], [latency(0.9), 'p90'], [latency(0.99), 'p99'],
    [`max(plimsoll_controller_window_latency_seconds{${C}})`, 'window'],
    [`min(plimsoll_controller_baseline_latency_seconds{${C}})`, 'baseline']).span(24), 'p50', 'p90', 'p99', 'window', 'baseline'))
  .withPanel(heatmap('Latency distribution', 'Admitted requests by latency.', 's',
    [`sum by (le) (increase(dependency_request_duration_seconds_bucket{${A}}${RATE}))`, '{{le}}']))
  .withPanel(graph('Gradient', 'Below 100 % the limit falls; only for laws that have one.', 'percentunit',
    [`min by (dependency) (plimsoll_controller_gradient_ratio{${C}})`, '{{dependency}}']))
  .withRow(row('Why'))
  .withPanel(colored(stacked(graph('What sets the limit', 'Number of bulkheads by the constraint that binds.', 'short',
    [`sum by (constraint) (plimsoll_agent_binding_constraint{${A}})`, '{{constraint}}'])),
  'algorithm', 'quota', 'floor', 'ceiling', 'override', 'fallback'))
  .withPanel(stacked(graph('Limit changes', 'Changes of the limit in force per minute, by direction and reason, without the steps made to learn.', 'cpm',
    [`60 * sum by (direction, reason) (rate(plimsoll_agent_limit_changes_total{${A}, reason!="probe"}${RATE})) > 0`, '{{direction}} {{reason}}'])))
  .withPanel(colored(stacked(graph('Rejections', 'Refused requests per second, by reason; in observe mode those that would have been refused.', 'reqps',
    [`sum by (reason) (${rejected})`, '{{reason}}'],
    [`sum by (reason) (${rate('plimsoll_agent_would_reject_total', A)}) > 0`, 'observed: {{reason}}'])),
  'limit', 'queue_full', 'deadline', 'breaker_open', 'draining', 'tenant')
    .overrideByRegexp('/^observed/', [{ id: 'color', value: { mode: 'fixed', fixedColor: 'light-blue' } }]))
  .withPanel(colored(stacked(graph('Failures', 'Failed requests per second, by kind.', 'reqps',
    [`sum by (kind) (${errors})`, '{{kind}}'])), 'error', 'overload', 'timeout', 'cancelled'))
  .withPanel(graph('Rejected by class', 'Share of the offered requests that was refused, by priority class. The least important go first.', 'percentunit',
    [ratio(`sum by (class) (${rate('plimsoll_agent_rejected_total', A)})`, `sum by (class) (${rate('plimsoll_agent_offered_total', A)})`), '{{class}}']))
  .withPanel(colored(stacked(graph('Windows', 'Measuring windows per second; only used ones can move the limit.', 'cps',
    [`sum by (outcome) (${rate('plimsoll_controller_windows_total', C)})`, '{{outcome}}'])),
  'used', 'too_few_samples', 'not_saturated', 'stale'))
  .withPanel(colored(stacked(graph('Mode', 'Number of bulkheads by mode.', 'short',
    [`sum by (mode) (plimsoll_agent_mode{${A}})`, '{{mode}}'])).span(8), 'enforce', 'observe'))
  .withPanel(graph('Queue', 'Callers that wait for a permit, and how long those waited that got one. Wait: right axis; empty without a queue.', 'short',
    [`sum(plimsoll_agent_waiting{${A}})`, 'waiting'], [quantile(0.99, 'plimsoll_agent_queue_wait_seconds', A), 'wait p99'])
    .overrideByName('wait p99', [{ id: 'unit', value: 's' }, { id: 'custom.axisPlacement', value: 'right' }]).span(8))
  .withPanel(colored(stacked(graph('Breakers', 'Number of instances by the state of their breaker; empty without one.', 'short',
    [`sum by (state) (plimsoll_agent_breaker_state{${A}})`, '{{state}}'])).span(8),
  'closed', 'open', 'half_open', 'forced_open', 'disabled'))
  .withRow(row('Quota'))
  .withPanel(colored(graph('Quota', 'The quota, what is granted, what is still reserved, and what is wanted.', 'short',
    [total('quota_capacity'), 'capacity'], [total('quota_granted'), 'granted'],
    [total('quota_reserved'), 'reserved'], [total('quota_wanted'), 'wanted']), 'capacity', 'granted', 'reserved', 'wanted'))
  .withPanel(colored(stacked(graph('Not at work', 'Capacity that nobody holds, that is held for silent agents, or that is on its way back after a cut.', 'short',
    [total('quota_unallocated'), 'unallocated'], [total('quota_orphaned'), 'orphaned'], [total('quota_draining'), 'draining'])),
  'unallocated', 'orphaned', 'draining'))
  .withRow(row('Instances'))
  .withPanel(table('Instances', 'The numbers behind the limit of each instance.', ['instance', 'dependency'], [
    ['Enforced', 'short', byInstance('dependency_bulkhead_capacity')],
    ['In flight', 'short', byInstance('dependency_bulkhead_active')],
    ['Algorithm', 'short', byInstance('plimsoll_agent_algorithm_limit')],
    ['Quota share', 'short', byInstance('plimsoll_agent_quota_share')],
    ['Floor', 'short', byInstance('plimsoll_agent_floor')],
    ['Ceiling', 'short', byInstance('plimsoll_agent_ceiling')],
    ['Rejected', 'reqps', `sum by (instance, dependency) (${rejected})`, [[null, 'green'], [1, 'orange'], [100, 'red']]],
    ['Limit age', 's', `max by (instance, dependency) (plimsoll_agent_limit_age_seconds{${A}})`, [[null, 'green'], [5, 'orange'], [10, 'red']]],
  ]).overrideByName('instance', [{ id: 'links', value: [{ title: 'Open the instance',
    url: '/d/plimsoll-instance?var-instance=${__value.raw}&${datasource:queryparam}&${job:queryparam}&${__url_time_range}' }] }])
    .height(10));
