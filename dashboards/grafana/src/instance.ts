// One process: its limits, its link to the controller, its health.
import { annotation, colored, dashboard, graph, limitStyles, row, stacked, stat } from './lib.ts';
import { A, agentVariables, latency, limitFalls, P, RATE, rate } from './queries.ts';

const rejected = rate('dependency_bulkhead_rejected_total', A);

export const instance = dashboard('plimsoll-instance', 'Instance',
  'One process: its limits, its link to the controller, its health.', agentVariables())
  .annotation(annotation('Limit falls', 'orange', limitFalls, '{{dependency}} limit down ({{reason}})'))
  .withRow(row('Now'))
  .withPanel(stat('Controller', 'Whether the last sync of all selected instances succeeded.', 'short',
    [`min(plimsoll_agent_controller_connected{${P}})`], [[null, 'red'], [1, 'green']], { '0': 'fallback', '1': 'connected' }))
  .withPanel(stat('Oldest limit', 'Time since the controller last confirmed a grant. Older than the lease: it has run out.', 's',
    [`max(plimsoll_agent_limit_age_seconds{${A}})`], [[null, 'green'], [5, 'orange'], [10, 'red']]))
  .withPanel(stat('Rejected', 'Requests refused per second.', 'reqps', [`sum(${rejected})`], [[null, 'green'], [1, 'orange'], [100, 'red']]))
  .withPanel(stat('Leaked permits', 'Permits destroyed without an outcome since the start: a fault at a call site.', 'short',
    [`sum(plimsoll_agent_permits_leaked_total{${A}})`], [[null, 'green'], [1, 'red']]))
  .withPanel(stat('Folded dependencies', 'Dependencies without series of their own.', 'short',
    [`sum(plimsoll_agent_metrics_overflow_total{${P}})`], [[null, 'green'], [1, 'orange']]))
  .withPanel(stat('Versions', 'Number of agent versions among the selected instances.', 'short',
    [`count(count by (version) (plimsoll_agent_build_info{${P}}))`], [[null, 'green'], [2, 'orange']]))
  .withRow(row('Limits'))
  .withPanel(limitStyles(graph('Concurrency', 'Requests in flight, the enforced limit, and the numbers it is made of. More than that runs while a cut takes effect, and where a policy only observes.', 'short',
    [`sum(dependency_bulkhead_active{${A}})`, 'in flight'], [`sum(plimsoll_agent_in_flight_max{${A}})`, 'peak in flight'],
    [`sum(dependency_bulkhead_capacity{${A}})`, 'enforced'], [`sum(plimsoll_agent_algorithm_limit{${A}})`, 'algorithm'],
    [`sum(plimsoll_agent_quota_share{${A}})`, 'quota share'])).span(24))
  .withPanel(graph('Enforced limit', 'Enforced limit of each dependency.', 'short',
    [`sum by (dependency) (dependency_bulkhead_capacity{${A}})`, '{{dependency}}']))
  .withPanel(graph('Latency p99', 'Latency of admitted requests.', 's', [latency(0.99, 'dependency'), '{{dependency}}']))
  .withPanel(stacked(graph('Requests', 'Requests that have ended and count for the algorithm, per second.', 'reqps',
    [`sum by (dependency) (${rate('plimsoll_agent_completed_total', A)})`, '{{dependency}}'])).span(8))
  .withPanel(stacked(graph('Rejections', 'Refused requests per second.', 'reqps',
    [`sum by (dependency, reason) (${rejected}) > 0`, '{{dependency}} {{reason}}'])).span(8))
  .withPanel(stacked(graph('Limit changes', 'Changes of the limit in force per minute, without the steps made to learn.', 'cpm',
    [`60 * sum by (dependency, reason) (rate(plimsoll_agent_limit_changes_total{${A}, reason!="probe"}${RATE})) > 0`, '{{dependency}} {{reason}}'])).span(8))
  .withRow(row('Controller link'))
  .withPanel(colored(stacked(graph('Syncs', 'Sync requests per second, by result.', 'cps',
    [`sum by (result) (${rate('plimsoll_agent_syncs_total', P)})`, '{{result}}'])).span(8), 'ok', 'error', 'timeout'))
  .withPanel(graph('Limit age', 'Time since the controller last confirmed each grant.', 's',
    [`max by (dependency) (plimsoll_agent_limit_age_seconds{${A}})`, '{{dependency}}']).span(8))
  .withPanel(colored(stacked(graph('Outage stage', 'Number of bulkheads by what is in force: the lease, the base, or the offline reserve.', 'short',
    [`sum by (stage) (plimsoll_agent_lease_stage{${A}})`, '{{stage}}'])).span(8), 'lease', 'base', 'reserve', 'none'))
  .withRow(row('Health'))
  .withPanel(colored(stacked(graph('Breaker', 'Number of bulkheads by state of their circuit breaker; empty without one.', 'short',
    [`sum by (state) (plimsoll_agent_breaker_state{${A}})`, '{{state}}'])).span(6), 'closed', 'open', 'half_open', 'forced_open', 'disabled'))
  .withPanel(graph('Openings and denied retries', 'Openings of breakers and retries refused by the budget, per second; empty without a breaker and a budget.', 'cps',
    [`sum(${rate('plimsoll_agent_breaker_opened_total', A)})`, 'openings'], [`sum(${rate('plimsoll_agent_retries_denied_total', A)})`, 'denied retries']).span(6))
  .withPanel(graph('Longest wait', 'How long the caller that waits longest for a permit has waited.', 's',
    [`max by (dependency) (plimsoll_agent_oldest_wait_seconds{${A}})`, '{{dependency}}']).span(6))
  .withPanel(graph('Unsampled and leaked', 'Permits kept out of the samples, and permits lost, per second.', 'cps',
    [`sum by (cause) (${rate('plimsoll_agent_unsampled_total', A)})`, '{{cause}}'], [`sum(${rate('plimsoll_agent_permits_leaked_total', A)})`, 'leaked']).span(6));
