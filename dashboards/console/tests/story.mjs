// A fleet as the API tells it: a scripted story in which everything the console shows occurs. The same
// time gives the same numbers, so that pictures can be compared.
const NAMES = [
  ['payments-api', 'The card provider, 50 concurrent calls by contract', 'FLEET_KNEE', 50, 96, 42.4, 0.112, 'LIMITED'],
  ['orders-db', 'Orders Postgres, primary', 'GRADIENT2', 120, 104, 0, 0.018, 'OK'],
  ['inventory', 'Stock levels, slow since the last release', 'GRADIENT2', null, 14, 6.1, 1.42, 'AT_FLOOR'],
  ['mail-relay', 'Provider for customers and for a nightly job', 'FLEET_KNEE', 60, 31, 0, 0.24, 'OK'],
  ['search-sidecar', '', 'AIMD', null, 22, 0, 0.0084, 'OK'],
  ['fraud-score', 'Pinned during INC-12', 'VEGAS', 40, 20, 2.2, 0.095, 'LIMITED'],
  ['recommendations', 'Best effort', 'GRADIENT2', null, 9, 0, 0.051, 'OK'],
  ['geo-lookup', 'Observed before it is enforced', 'BDP', null, 12, 1.4, 0.021, 'OK'],
  ['ledger', 'No instance yet', 'FLEET_KNEE', 30, 0, 0, null, 'NO_INSTANCES'],
];
const BINDING = ['QUOTA', 'ALGORITHM', 'FLOOR', 'ALGORITHM', 'CEILING', 'OVERRIDE', 'ALGORITHM', 'ALGORITHM', null];
const SERVICES = ['checkout', 'storefront', 'newsletter'];
const HOUR = 3600;

const wave = (t, period, phase = 0) => Math.sin((2 * Math.PI * t) / period + phase);
const iso = (seconds) => new Date(seconds * 1000).toISOString();

export class Story {
  constructor({ instances = 8, now = () => Date.now() / 1000 } = {}) {
    this.instances = instances;
    this.now = now;
    this.overrides = new Map();
    this.extra = [];
    this.overrides.set('fraud-score', { dependency: 'fraud-score', limit: 4, mode: null, reason: 'INC-12 failover', set_by: 'alice', create_time: iso(now() - 900), expire_time: iso(now() + 2700), revision: 'overrides.9' });
    this.evicted = new Set();
    this.audit = [
      { time: iso(now() - 900), who: 'alice', what: 'PUT_OVERRIDE', target: 'fraud-score', before: null, after: { limit: 4, reason: 'INC-12 failover' }, request_id: '01K8000031', result: 'OK' },
      { time: iso(now() - 4000), who: 'bob', what: 'PUT_OVERRIDE', target: 'payments-api', before: null, after: { limit: 900 }, request_id: '01K8000012', result: 'PERMISSION_DENIED' },
    ];
  }

  names() { return NAMES.map(([name]) => name); }
  has(name) { return this.names().includes(name); }

  // The numbers of a dependency at a time.
  numbers(index, at) {
    const [, , algorithm, quota, wanted, refused, p99] = NAMES[index];
    if (index === 8) return { quota, algorithm, in_flight: 0, enforced: 0, wanted: 0, granted: 0, reserved: 0, refused: 0, p99: null, p50: null, baseline: null, admitted: 0, limit: 30 };
    const slow = Math.max(0, wave(at, 900, index)) ** 4; // once in a quarter of an hour it is slow
    const want = Math.max(2, Math.round(wanted * (1 + 0.22 * wave(at, 240, index) + 0.05 * wave(at, 31, index))));
    const limit = Math.max(4, Math.round(wanted * (1.1 - 0.45 * slow)));
    const granted = quota === null ? limit : Math.min(quota, Math.max(want, 4));
    const enforced = Math.round(quota === null ? limit : Math.min(granted, limit));
    const inFlight = Math.round(Math.min(enforced, want) * (refused > 0 ? 0.97 : 0.71));
    const calm = p99 * (1 + 0.12 * wave(at, 47, index));
    return { quota, algorithm, in_flight: inFlight, enforced, wanted: want, granted, reserved: quota === null ? granted : Math.min(quota, granted + (index === 0 ? 0 : 2)),
      refused: refused * Math.max(0, 1 + 0.6 * wave(at, 240, index) + slow), p99: calm * (1 + 2.4 * slow), p50: calm * 0.42 * (1 + slow), baseline: p99 * 0.36, admitted: inFlight / (p99 * 0.5), limit };
  }

  lastDecision(name, at) {
    const event = this.events().find((e) => e.dependency === name && e.type === 'DECISION');
    if (!event) return null;
    return { event_id: event.id, time: event.time, age_seconds: Math.max(0, at - Date.parse(event.time) / 1000), outcome: 'USED', from: event.from, to: event.to, reason: event.reason, message: event.message };
  }

  dependency(index) {
    const [name, description] = NAMES[index];
    const at = this.now();
    const n = this.numbers(index, at);
    const override = this.overrides.get(name) ?? null;
    const instances = index === 8 ? 0 : this.countOf(index);
    return {
      name, origin: index === 6 ? 'API' : 'FILE', description, mode: index === 7 ? 'OBSERVE' : 'ENFORCE', scope: index === 4 ? 'INSTANCE' : 'FLEET', algorithm: n.algorithm,
      floor: 2, ceiling: 64, initial: 20, call_deadline: '3s', window: { length: '1s', min_samples: 20, latency: 'PERCENTILE', percentile: 0.9, drop_tolerance: 0.05 },
      quota: n.quota === null ? null : { capacity: n.quota, policy: 'FAIR_SHARE' }, outage: { base: 2, base_lease: '10m', reserve: 0 },
      status: { health: NAMES[index][7], instances, not_enforcing: index === 7 ? instances : 0, in_flight: n.in_flight, enforced: n.enforced, granted: n.granted, reserved: n.reserved, wanted: n.wanted,
        algorithm_limit: n.limit, admitted_per_second: n.admitted, rejected_per_second: n.refused, latency_p50_seconds: n.p50, latency_p99_seconds: n.p99, baseline_latency_seconds: n.baseline,
        learning: false, breaker: null, last_decision: this.lastDecision(name, at) },
      override, revision: 'dependencies.418', create_time: iso(at - 9000), update_time: iso(at - 800),
    };
  }
  dependencies() { return NAMES.map((_, index) => this.dependency(index)).sort((a, b) => (a.name < b.name ? -1 : 1)); }

  countOf(index) { return index === 0 ? this.instances : Math.max(1, Math.min(this.instances, 3 + (index % 4))); }
  instanceId(index, i) { return `${SERVICES[index % 3]}-${i}`; }

  parts(total, count) { return Array.from({ length: count }, (_, i) => Math.floor(total / count) + (i < total % count ? 1 : 0)); }

  shares(index) {
    const n = this.numbers(index, this.now());
    if (n.granted === 0) return [];
    const count = this.countOf(index);
    const granted = this.parts(n.granted, count);
    const wanted = this.parts(n.wanted, count);
    const flight = this.parts(n.in_flight, count);
    return granted.map((g, i) => ({ service: SERVICES[index % 3], instance_id: this.instanceId(index, i), granted: g, reserved: g, wanted: wanted[i], in_flight: Math.min(flight[i], g), silent_seconds: 0.2 + (i % 7) / 10 }));
  }

  quota(index) {
    const [name] = NAMES[index];
    const n = this.numbers(index, this.now());
    const shares = this.shares(index);
    return { dependency: name, capacity: n.quota, policy: 'FAIR_SHARE', granted: n.granted, reserved: n.reserved, draining: 0, orphaned: n.reserved - n.granted > 0 ? n.reserved - n.granted : 0,
      unallocated: n.quota === null ? null : n.quota - n.reserved, wanted: n.wanted, shares, revision: 'quotas.77' };
  }

  limits() {
    return NAMES.flatMap(([name], index) => this.shares(index).filter((share) => !this.evicted.has(share.instance_id)).map((share, i) => {
      const n = this.numbers(index, this.now());
      const lost = index === 1 && i === 3;
      const binding = lost ? 'FALLBACK' : index === 0 && i % 5 === 4 ? 'ALGORITHM' : BINDING[index];
      const pinned = this.overrides.get(name)?.limit ?? Infinity;
      const enforced = lost ? 2 : Math.min(share.granted, pinned);
      return { dependency: name, service: share.service, instance_id: share.instance_id, session: `7-${index}-${i}`, enforced: index === 7 ? null : enforced,
        algorithm_limit: binding === 'ALGORITHM' ? share.granted : share.wanted + 4, quota_share: n.quota === null ? null : share.granted, floor: 2, ceiling: 64, in_flight: Math.min(share.in_flight, enforced), binding_constraint: binding,
        in_flight_max: enforced, granted: share.granted, reserved: share.reserved, wanted: share.wanted, mode: index === 7 ? 'OBSERVE' : 'ENFORCE', lease_stage: lost ? 'BASE' : 'LEASE', age_seconds: lost ? 48.2 : share.silent_seconds,
        fenced: false, last_change: { event_id: `418-${10 + index}`, reason: BINDING[index] === 'QUOTA' ? 'QUOTA_REBALANCED' : 'LATENCY_FELL', time: iso(this.now() - 21) }, last_decision: null };
    }));
  }

  evict(id, service) {
    if (!this.agents().some((agent) => agent.instance_id === id && (!service || agent.service === service))) return false;
    this.evicted.add(id);
    this.audit.unshift({ time: iso(this.now()), who: 'alice', what: 'EVICT_INSTANCE', target: id, before: null, after: null, request_id: '01K8000040', result: 'OK' });
    return true;
  }

  agents() {
    const all = new Map();
    for (const row of this.limits()) {
      const agent = all.get(row.instance_id) ?? { instance_id: row.instance_id, service: row.service, session: row.session, agent_version: '0.1.0', zone: 'a', state: row.lease_stage === 'LEASE' ? 'CONNECTED' : 'SILENT',
        last_report_age_seconds: row.age_seconds, report_lag_seconds: 0.02, dependencies: [], join_time: iso(this.now() - 5000) };
      agent.dependencies.push(row.dependency);
      all.set(row.instance_id, agent);
    }
    return [...all.values()].sort((a, b) => a.instance_id.localeCompare(b.instance_id, 'en', { numeric: true }));
  }

  events() {
    const step = 37;
    const newest = Math.floor(this.now() / step);
    const list = [];
    for (let k = 0; k < 150; k += 1) list.push(this.event(newest - k, (newest - k) * step));
    return [...[...this.extra].reverse(), ...list];
  }

  event(number, time) {
    const base = { id: `418-${number % 100_000}`, time: iso(time) };
    const kind = number % 6;
    const inputs = { algorithm: 'GRADIENT2', baseline_latency_seconds: 0.011, window_latency_seconds: 0.048, latency_signal: 'P90', gradient: 0.5, in_flight_max: 61, in_flight_mean: 55.1, window_seconds: 1, throughput_per_second: 1204.5, samples: 1210, failed: 2, rejected: 44, algorithm_limit: 31, quota_capacity: 50, wanted: 96 };
    if (kind === 0) return { ...base, type: 'DECISION', dependency: 'payments-api', from: 61, to: 31, reason: 'LATENCY_ROSE', message: 'payments-api: 61 → 31. Latency 48 ms is above 1.5 times the baseline of 11 ms.', inputs };
    if (kind === 1) return { ...base, type: 'LIMIT_CHANGED', dependency: 'payments-api', service: 'checkout', instance_id: 'checkout-0', from: 7, to: 6, reason: 'QUOTA_REBALANCED', binding_constraint: 'QUOTA', message: 'Quota 50 is shared by 8 instances since checkout-8 joined: 7 → 6.' };
    if (kind === 2) return { ...base, type: 'DECISION', dependency: 'payments-api', from: 31, to: 48, reason: 'THROUGHPUT_GREW', message: 'payments-api: 31 → 48. More calls in flight still brought more throughput (elasticity 0.72).', inputs: { ...inputs, window_latency_seconds: 0.0121, gradient: 0.97, elasticity: 0.72 } };
    if (kind === 3) return { ...base, type: 'INSTANCE_JOINED', dependency: '', service: 'checkout', instance_id: `checkout-${number % 8}`, message: `checkout-${number % 8} joined with agent 0.1.0.` };
    if (kind === 4) return { ...base, type: 'DECISION', dependency: 'inventory', from: 4, to: 2, reason: 'TIMEOUTS', message: 'inventory: 4 → 2. 31 % of the calls timed out.', inputs };
    return { ...base, type: 'DECISION', dependency: 'orders-db', from: 98, to: 104, reason: 'LATENCY_FELL', message: 'orders-db: 98 → 104. Latency is within the tolerance and the limit was in use.', inputs };
  }

  timeseries(name, metrics, since, step = 5) {
    const index = this.names().indexOf(name);
    const end = Math.floor(this.now() / step) * step;
    const begin = Math.max(end - HOUR, Math.ceil(since / step) * step);
    const columns = Object.fromEntries(metrics.map((metric) => [metric, []]));
    for (let at = begin; at <= end; at += step) {
      const n = this.numbers(index, at);
      const values = { in_flight: n.in_flight, in_flight_max: n.in_flight + 1, enforced: n.enforced, algorithm_limit: n.limit, quota_share: n.quota === null ? null : n.granted, admitted_rate: n.admitted, rejected_rate: n.refused, error_rate: 0,
        latency_p50_seconds: n.p50, latency_p99_seconds: n.p99, baseline_latency_seconds: n.baseline, wanted: n.wanted, granted: n.granted, reserved: n.reserved };
      for (const metric of metrics) columns[metric].push(values[metric] ?? null);
    }
    return { dependency: name, step_seconds: step, start_time: iso(begin), columns };
  }

  status() {
    return { version: '0.1.0', role: 'LEADER', leader: 'http://127.0.0.1:7480', uptime_seconds: 8123.4, state: 'EMBEDDED', store_ok: true, learning: { active: false },
      dependencies: { total: NAMES.length, limited: 3, learning: 0, overridden: this.overrides.size }, agents: { connected: this.agents().length - 1, silent: 1, versions: ['0.1.0'] }, watchers: { open: 2, max: 256 },
      config: { revision: 'config.6', hash: 'f00dc0ffee12', last_reload_ok: true, pending_restart: ['listen.api'] } };
  }

  explain(name, instance) {
    const row = this.limits().find((r) => r.dependency === name && (!instance || r.instance_id === instance));
    if (!row) return null;
    const steps = [{ name: 'algorithm', value: row.algorithm_limit, text: 'Gradient 0.96: latency 12 ms against a baseline of 11 ms.' }, { name: 'bounds', value: Math.min(row.ceiling, Math.max(row.floor, row.algorithm_limit)), text: `Between floor ${row.floor} and ceiling ${row.ceiling}.` }];
    if (row.binding_constraint === 'OVERRIDE') steps.push({ name: 'override', value: row.enforced, text: 'Pinned by alice: INC-12 failover.' });
    if (row.quota_share !== null) steps.push({ name: 'quota', value: row.quota_share, text: `The share of ${row.instance_id} is ${row.quota_share} of ${this.numbers(this.names().indexOf(name), this.now()).quota}.` });
    return { instance_id: row.instance_id, enforced: row.enforced, binding_constraint: row.binding_constraint, steps };
  }

  sizing() {
    return { items: NAMES.slice(0, 4).map(([dependency, , , quota, wanted, , p99]) => ({ dependency, measured: { span_seconds: 3600, steps: 720, instances: 8, arrivals_per_second: Math.round(wanted / (p99 * 0.5)), arrivals_per_second_max: Math.round(wanted / (p99 * 0.4)), latency_mean_seconds: p99 * 0.5, latency_p99_seconds: p99, utilisation: 0.7, utilisation_max: 0.98, rejected_share: 0.1 },
      needed: { in_flight_by_mean: wanted, in_flight_by_p99: wanted * 2, critical: wanted * 2, optional: wanted }, advised: { floor: 2, ceiling: Math.round(wanted * 1.5), quota: wanted * 2 }, configured: { floor: 2, ceiling: 64, quota },
      remarks: quota !== null && quota < wanted ? [{ finding: 'QUOTA_BELOW_NEED', message: `The quota of ${quota} is below the ${wanted * 2} that critical work needs: calls will be refused.` }] : [],
      reasons: [`${wanted} calls are in flight at the busiest: arrivals × mean latency.`, `Critical work needs twice that, ${wanted * 2}.`] })), next_page_token: '' };
  }

  config() {
    const entry = (key, value, source = 'DEFAULT', line = 0, needs = false) => ({ key, value, source, place: line ? `plimsoll-controller.yaml:${line}:3` : null, needs_restart: needs });
    return { items: [entry('listen.api', '127.0.0.1:7480', 'FILE', 4, true), entry('listen.agents', '127.0.0.1:7481', 'FILE', 5, true), entry('auth.tokens_file', '/etc/plimsoll/tokens.yaml', 'ENVIRONMENT'), entry('auth.identities', '[{"san":"spiffe://example.com/checkout","name":"checkout-agents","role":"agent"}]', 'FILE', 11), entry('auth.allow_anonymous', '[]'), entry('agents.lease', '10s', 'FILE', 8), entry('agents.hold_max', '1s'), entry('agents.tick', '250ms'),
      entry('state.mode', 'embedded', 'DEFAULT', 0, true), entry('state.dir', '/var/lib/plimsoll', 'FLAG', 0, true), entry('console.enabled', true, 'DEFAULT', 0, true), entry('console.base_path', '/ui/', 'DEFAULT', 0, true), entry('events.keep', 10000), entry('log.level', 'info'), entry('timeseries.keep', '1h', 'DEFAULT', 0, true), entry('observe_all', false)], next_page_token: '' };
  }

  configStatus() {
    return { last_load_time: iso(this.now() - 1200), last_load_ok: true, hash: 'f00dc0ffee12', revision: 'config.6', pending_restart: ['listen.api 127.0.0.1:7480 -> 127.0.0.1:7490'], errors: [] };
  }
}
