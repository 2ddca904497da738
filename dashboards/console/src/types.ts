// What the API answers, as far as the console reads it. Unknown fields are ignored, and all that a
// controller may not tell is optional.

export type Constraint = 'FALLBACK' | 'QUOTA' | 'OVERRIDE' | 'CEILING' | 'FLOOR' | 'ALGORITHM';

export interface Decision {
  event_id: string | null;
  age_seconds?: number;
  from: number;
  to: number;
  outcome?: string;
  reason: string | null;
  message: string;
}

export interface Override {
  limit: number | null;
  mode: string | null;
  reason: string;
  set_by?: string;
  create_time?: string;
  expire_time: string;
  revision?: string;
}

export interface Breaker { state: string; opened_total: number; next_probe_seconds: number; last_change?: { time: string; message: string } | null }

export interface DependencyStatus {
  health: string;
  instances: number;
  not_enforcing: number;
  in_flight: number;
  enforced: number;
  granted: number;
  reserved: number;
  wanted: number;
  algorithm_limit?: number;
  admitted_per_second?: number;
  rejected_per_second: number;
  latency_p50_seconds?: number | null;
  latency_p99_seconds: number | null;
  baseline_latency_seconds?: number | null;
  learning: boolean;
  breaker?: Breaker | null;
  last_decision?: Decision | null;
}

export interface Dependency {
  name: string;
  origin: 'FILE' | 'API';
  description: string;
  mode: string;
  scope: string;
  algorithm: string;
  floor: number;
  ceiling: number;
  initial: number;
  call_deadline: string;
  quota: { capacity: number; policy: string } | null;
  status: DependencyStatus;
  override?: Override | null;
  [setting: string]: unknown;
}

export interface Limit {
  dependency: string;
  service: string;
  instance_id: string;
  session?: string;
  enforced: number | null;
  algorithm_limit: number;
  quota_share: number | null;
  floor: number;
  ceiling: number;
  in_flight: number;
  in_flight_max: number;
  binding_constraint: Constraint;
  granted?: number;
  reserved?: number;
  wanted?: number;
  mode: string;
  lease_stage: string;
  age_seconds: number;
  fenced?: boolean;
  last_change?: { event_id: string; reason: string; time: string } | null;
  last_decision?: Decision | null;
}

export interface Instance {
  instance_id: string;
  service: string;
  session: string;
  agent_version: string;
  zone?: string;
  state: string;
  last_report_age_seconds: number;
  dependencies: string[];
  join_time: string;
}

export interface Share {
  service: string;
  instance_id: string;
  granted: number;
  reserved: number;
  wanted: number;
  in_flight: number;
  silent_seconds: number;
}

export interface Quota {
  dependency: string;
  capacity: number | null;
  policy: string;
  granted: number;
  reserved: number;
  draining: number | null;
  orphaned: number;
  unallocated: number | null;
  wanted: number;
  shares: Share[];
}

export interface LogEvent {
  id: string;
  type: string;
  time: string;
  dependency?: string;
  service?: string;
  instance_id?: string;
  from?: number;
  to?: number;
  reason?: string;
  binding_constraint?: Constraint;
  message: string;
  inputs?: Record<string, unknown>;
  identity?: string;
}

export interface Shard { shard: number; owner: string; role: string; epoch: number | null; dependencies: number | null }

export interface Status {
  version: string;
  role: string;
  leader?: string;
  epoch?: number;
  shards?: Shard[];
  uptime_seconds: number;
  state: string;
  store_ok?: boolean;
  learning?: { active: boolean; remaining_seconds?: number | null; why?: string } | boolean;
  dependencies: { total: number; limited: number; learning: number; overridden?: number };
  agents: { connected: number; silent: number; versions: string[] };
  watchers?: { open: number; max: number };
  config: { revision?: string; hash: string; last_reload_ok?: boolean; pending_restart?: string[] };
}

export interface Timeseries {
  dependency: string;
  step_seconds: number;
  start_time: string;
  columns: Record<string, (number | null)[]>;
}

export interface Explanation {
  instance_id?: string;
  enforced: number | null;
  binding_constraint: Constraint;
  steps: { name: string; value: number | null; text: string }[];
}

export interface ConfigEntry { key: string; value: unknown; source: string; place?: string; needs_restart?: boolean }

export interface ConfigStatus {
  last_load_time?: string;
  last_load_ok?: boolean;
  hash?: string;
  revision?: string;
  pending_restart?: string[];
  errors?: { pointer: string; code: string; file?: string; line?: number; column?: number; detail: string }[];
}

export interface AuditRecord {
  time: string;
  who: string;
  what: string;
  target: string;
  before?: unknown;
  after?: unknown;
  request_id?: string;
  result?: unknown;
}

export interface List<T> { items: T[]; next_page_token: string }

interface Bounds { quota: number | null; floor: number | null; ceiling: number | null }

export interface SizingRow {
  dependency: string;
  measured: {
    span_seconds?: number;
    arrivals_per_second: number;
    arrivals_per_second_max?: number;
    latency_mean_seconds: number | null;
    latency_p99_seconds: number | null;
    utilisation?: number;
    rejected_share?: number;
  };
  needed: { in_flight_by_mean: number | null; in_flight_by_p99?: number | null; critical: number | null; optional: number | null };
  advised: Bounds;
  configured: Bounds;
  reasons: string[];
  remarks: { finding: string; message: string }[];
}
