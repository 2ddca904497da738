// Which dependencies are limited now, how hard, and what holds them back.
import { annotation, colored, dashboard, graph, limitStyles, row, stacked, stat, table } from './lib.ts';
import { A, agentVariables, C, controllerJob, latency, limitFalls, ofLeader, P, rate, ratio } from './queries.ts';

const rejected = rate('dependency_bulkhead_rejected_total', A);
const active = `dependency_bulkhead_active{${A}}`;
const capacity = `dependency_bulkhead_capacity{${A}}`;
const errors = rate('dependency_request_errors_total', A);
const answered = rate('dependency_request_duration_seconds_count', A);

export const overview = dashboard('plimsoll-overview', 'Overview',
  'Which dependencies are limited now, how hard, and what holds them back.', [...agentVariables(), controllerJob()])
  .annotation(annotation('Limit falls', 'orange', limitFalls, '{{dependency}} limit down ({{reason}})'))
  .withRow(row('Now'))
  .withPanel(stat('Being limited', 'Dependencies with at least one refused request in the last step.', 'short',
    [`sum(sum by (dependency) (${rejected}) > bool 0)`], [[null, 'green'], [1, 'orange']]))
  .withPanel(stat('Rejected', 'Requests refused per second.', 'reqps',
    [`sum(${rejected})`], [[null, 'green'], [1, 'orange'], [100, 'red']]))
  .withPanel(stat('Utilisation', 'Requests in flight divided by the enforced limits.', 'percentunit',
    [ratio(`sum(${active})`, `sum(${capacity})`)], [[null, 'green'], [0.8, 'orange'], [0.95, 'red']]))
  .withPanel(stat('Breakers open', 'Dependencies whose fleet breaker is open or half-open. Empty if no policy has a breaker.', 'short',
    [`sum(${ofLeader('breaker_open')})`], [[null, 'green'], [1, 'red']]))
  .withPanel(stat('Agents in fallback', 'Agents without a controller. They use only what is reserved for them offline.', 'short',
    [`sum(plimsoll_agent_controller_connected{${P}} == bool 0)`], [[null, 'green'], [1, 'red']]))
  .withPanel(stat('Tightest quota', 'Highest demand divided by its quota; above 100 % the instances could use more than there is.', 'percentunit',
    [`max(${ratio(ofLeader('quota_wanted'), ofLeader('quota_capacity'))})`], [[null, 'green'], [1, 'orange'], [2, 'red']]))
  .withRow(row('Dependencies'))
  .withPanel(table('Dependencies', 'One line for each dependency, over all selected instances.', ['dependency'], [
    ['Instances', 'short', `count by (dependency) (${capacity})`],
    ['Enforced limit', 'short', `sum by (dependency) (${capacity})`],
    ['In flight', 'short', `sum by (dependency) (${active})`],
    ['Utilisation', 'percentunit', ratio(`sum by (dependency) (${active})`, `sum by (dependency) (${capacity})`),
      [[null, 'green'], [0.8, 'orange'], [0.95, 'red']]],
    ['Admitted', 'reqps', `sum by (dependency) (${rate('plimsoll_agent_admitted_total', A)})`],
    ['Rejected', 'reqps', `sum by (dependency) (${rejected})`, [[null, 'green'], [1, 'orange'], [100, 'red']]],
    ['Failed', 'percentunit', ratio(`sum by (dependency) (${errors})`, `sum by (dependency) (${answered})`),
      [[null, 'green'], [0.01, 'orange'], [0.05, 'red']]],
    ['p99', 's', latency(0.99, 'dependency')],
  ]).overrideByName('dependency', [{ id: 'links', value: [{ title: 'Open the dependency',
    url: '/d/plimsoll-dependency?var-dependency=${__value.raw}&${datasource:queryparam}&${job:queryparam}&${__url_time_range}' }] }]))
  .withPanel(limitStyles(graph('Concurrency', 'Requests in flight under the enforced limits, all dependencies together. More than that runs while a cut takes effect, and where a policy only observes.', 'short',
    [`sum(${active})`, 'in flight'], [`sum(${capacity})`, 'enforced'])))
  .withPanel(colored(stacked(graph('What sets the limit', 'Number of (instance, dependency) pairs by the constraint that binds.', 'short',
    [`sum by (constraint) (plimsoll_agent_binding_constraint{${A}})`, '{{constraint}}'])),
  'algorithm', 'quota', 'floor', 'ceiling', 'override', 'fallback'))
  .withPanel(graph('Most rejected', 'The ten dependencies with the most refused requests.', 'reqps',
    [`topk(10, sum by (dependency) (${rejected}))`, '{{dependency}}']))
  .withPanel(graph('Latency p99', 'Latency of admitted requests.', 's', [latency(0.99, 'dependency'), '{{dependency}}']))
  .withRow(row('Quotas and breakers'))
  .withPanel(graph('Quota in use', 'Reserved part of each quota. It passes 100 % only while a cut is on its way.', 'percentunit',
    [ratio(ofLeader('quota_reserved'), ofLeader('quota_capacity')), '{{dependency}}']).span(8))
  .withPanel(graph('Demand against quota', 'What the instances could use, divided by the quota.', 'percentunit',
    [ratio(ofLeader('quota_wanted'), ofLeader('quota_capacity')), '{{dependency}}']).span(8))
  .withPanel(stacked(graph('Fleet breakers', '1 while the breaker of the fleet is open or half-open. Empty if no policy has a breaker.', 'short',
    [`max by (dependency) (plimsoll_controller_breaker_open{${C}})`, '{{dependency}}'])).span(8));
