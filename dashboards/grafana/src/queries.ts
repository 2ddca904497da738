// What the dashboards ask for: selectors, quantiles, and the variables that the selectors use.
import { queryVariable } from './lib.ts';

export const RATE = '[$__rate_interval]';

/** One dependency at an agent. */
export const A = 'job=~"$job", instance=~"$instance", dependency=~"$dependency"';
/** An agent process. */
export const P = 'job=~"$job", instance=~"$instance"';
/** A controller's view of a dependency, where $job names the agents. */
export const C = 'job=~"$controller_job", dependency=~"$dependency"';
/** A controller, where $job names the controllers. */
export const K = P;

export const rate = (metric: string, selector: string) => `rate(${metric}{${selector}}${RATE})`;
/** `a / b`, and no series where b is 0. */
export const ratio = (a: string, b: string) => `${a} / (${b} > 0)`;

export const quantile = (q: number, metric: string, selector: string, by = '') =>
  `histogram_quantile(${q}, sum by (${by ? by + ', ' : ''}le) (${rate(metric + '_bucket', selector)}))`;
export const latency = (q: number, by = '') => quantile(q, 'dependency_request_duration_seconds', A, by);

/** Only the leader has the numbers of dependencies, and two may overlap for one scrape. */
export const ofLeader = (metric: string) => `max by (dependency) (plimsoll_controller_${metric}{${C}})`;

/** Falls of a limit with their reason, without the steps that are made to learn. */
export const limitFalls =
  `sum by (dependency, reason) (increase(plimsoll_agent_limit_changes_total{${A}, direction="down", reason!="probe"}${RATE})) > 0`;

export const agentVariables = () => [
  queryVariable('job', 'Job', 'label_values(dependency_bulkhead_capacity, job)'),
  queryVariable('instance', 'Instance', 'label_values(dependency_bulkhead_capacity{job=~"$job"}, instance)'),
  queryVariable('dependency', 'Dependency',
    'label_values(dependency_bulkhead_capacity{job=~"$job", instance=~"$instance"}, dependency)'),
];
export const controllerJob = () =>
  queryVariable('controller_job', 'Controller job', 'label_values(plimsoll_controller_build_info, job)');
export const controllerVariables = () => [
  queryVariable('job', 'Job', 'label_values(plimsoll_controller_build_info, job)'),
  queryVariable('instance', 'Instance', 'label_values(plimsoll_controller_build_info{job=~"$job"}, instance)'),
];
