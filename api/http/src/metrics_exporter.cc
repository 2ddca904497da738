#include "api/http/src/metrics_exporter.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/http/src/metric_families.h"
#include "plimsoll/core/add_each.h"

namespace plimsoll::internal {
namespace {

// Reasons can move limits down, up, or both ways; other series would stay 0 for ever.
struct ReasonDirection {
  Reason reason;
  bool down;
  bool up;
};
constexpr ReasonDirection kDirections[] = {
    {Reason::kLatencyRose, true, false},     {Reason::kLatencyFell, false, true},
    {Reason::kThroughputGrew, false, true},  {Reason::kThroughputFlat, true, false},
    {Reason::kErrors, true, false},          {Reason::kTimeouts, true, false},
    {Reason::kUnderused, true, false},       {Reason::kProbe, true, true},
    {Reason::kFloor, true, false},           {Reason::kCeiling, false, true},
    {Reason::kQuotaRebalanced, true, true},  {Reason::kQuotaChanged, true, true},
    {Reason::kOverrideSet, true, true},      {Reason::kOverrideCleared, true, true},
    {Reason::kConfigReloaded, true, true},   {Reason::kReset, true, true},
    {Reason::kFallbackEntered, true, false}, {Reason::kFallbackLeft, false, true},
    {Reason::kInitial, false, true}};
static_assert(std::size(kDirections) == kReasons);

constexpr const char* kSyncResultNames[] = {"ok", "unknown_session", "rejected", "stale"};
static_assert(std::size(kSyncResultNames) == kSyncResults);

constexpr int kTooManyRequests = 429;

template <typename Enum>
std::string Label(Enum value) {
  return absl::AsciiStrToLower(std::string(ToString(value)));
}

double Number(std::int64_t count) { return static_cast<double>(count); }

void AddQuota(const DependencyRow& row, MetricFamilies& families) {
  const std::string& name = row.policy.name.value;
  families["plimsoll_controller_quota_granted"].Add({name}, Number(row.granted));
  families["plimsoll_controller_quota_reserved"].Add({name}, Number(row.reserved));
  families["plimsoll_controller_quota_wanted"].Add({name}, Number(row.wanted));
  families["plimsoll_controller_quota_orphaned"].Add({name}, Number(row.orphaned));
  families["plimsoll_controller_quota_shares_clamped_total"].Add({name},
                                                                 Number(row.shares_clamped_total));
  if (row.breaker.has_value()) {
    families["plimsoll_controller_breaker_open"].Add(
        {name}, row.breaker->view == BreakerView::kClosed ? 0 : 1);
    families["plimsoll_controller_breaker_opened_total"].Add({name},
                                                             Number(row.breaker->opened_total));
  }
  if (!row.policy.quota) return;
  const Calls quota = *row.policy.quota;
  families["plimsoll_controller_quota_capacity"].Add({name}, quota);
  families["plimsoll_controller_quota_draining"].Add({name}, Number(row.draining));
  families["plimsoll_controller_quota_unallocated"].Add(
      {name}, Number(std::max<std::int64_t>(0, quota - row.reserved)));
}

bool HasGradient(AlgorithmKind kind) {
  return kind == AlgorithmKind::kGradient || kind == AlgorithmKind::kGradient2 ||
         kind == AlgorithmKind::kEnvoyGradient;
}

void AddLaw(const DependencyRow& row, MetricFamilies& families) {
  const std::string& name = row.policy.name.value;
  families["plimsoll_controller_algorithm_limit"].Add({name}, Number(row.algorithm_limit));
  families["plimsoll_controller_window_latency_seconds"].Add(
      {name}, absl::ToDoubleSeconds(row.window_latency));
  if (HasGradient(row.policy.algorithm.kind)) {
    families["plimsoll_controller_gradient_ratio"].Add({name}, row.gradient);
  }
  if (row.baseline > absl::ZeroDuration()) {
    families["plimsoll_controller_baseline_latency_seconds"].Add(
        {name}, absl::ToDoubleSeconds(row.baseline));
  }
  for (std::size_t i = 0; i < kWindowOutcomes; ++i) {
    families["plimsoll_controller_windows_total"].Add({name, Label(static_cast<WindowOutcome>(i))},
                                                      static_cast<double>(row.windows_total[i]));
  }
}

void AddChanges(const DependencyRow& row, MetricFamilies& families) {
  MetricFamilyBuilder& changes = families["plimsoll_controller_limit_changes_total"];
  for (const ReasonDirection& direction : kDirections) {
    const auto& totals = row.limit_changes_total[static_cast<std::size_t>(direction.reason)];
    const std::string reason = Label(direction.reason);
    const std::string& name = row.policy.name.value;
    // One that moved against the table is shown nevertheless.
    if (direction.down || totals[0] > 0) {
      changes.Add({name, "down", reason}, static_cast<double>(totals[0]));
    }
    if (direction.up || totals[1] > 0) {
      changes.Add({name, "up", reason}, static_cast<double>(totals[1]));
    }
  }
}

void AddState(const DependencyRow& row, bool learning, MetricFamilies& families) {
  const std::string& name = row.policy.name.value;
  families["plimsoll_controller_learning"].Add({name}, learning ? 1 : 0);
  families["plimsoll_controller_overrides"].Add({name}, row.pinned.has_value() ? 1 : 0);
}

// What can be added up of several dependencies; their laws and breakers cannot.
void Fold(const DependencyRow& from, DependencyRow& into) {
  into.granted += from.granted;
  into.reserved += from.reserved;
  into.draining += from.draining;
  into.orphaned += from.orphaned;
  into.wanted += from.wanted;
  into.algorithm_limit += from.algorithm_limit;
  into.shares_clamped_total += from.shares_clamped_total;
  AddEach(from.windows_total, into.windows_total);
  for (std::size_t i = 0; i < kReasons; ++i) {
    AddEach(from.limit_changes_total[i], into.limit_changes_total[i]);
  }
}

// The rows that get series of their own, and one more if there are others.
std::vector<DependencyRow> Capped(const Snapshot& snapshot, std::size_t most) {
  const std::vector<DependencyRow>& all = snapshot.dependencies;
  if (all.size() <= most) return all;
  std::vector<DependencyRow> rows(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most));
  DependencyRow rest;
  rest.policy.name.value = kOverflowDependency;
  for (std::size_t i = most; i < all.size(); ++i) Fold(all[i], rest);
  rows.push_back(std::move(rest));
  return rows;
}

void AddDependencies(const MetricsInput& input, MetricFamilies& families) {
  const Snapshot& snapshot = *input.snapshot;
  for (const DependencyRow& row : Capped(snapshot, input.dependencies_max)) {
    AddLaw(row, families);
    AddQuota(row, families);
    AddChanges(row, families);
    AddState(row, snapshot.learning, families);
  }
  const std::size_t count = snapshot.dependencies.size();
  const std::size_t folded = count - std::min(count, input.dependencies_max);
  families["plimsoll_controller_metrics_overflow"].Add({}, static_cast<double>(folded));
}

void AddInstances(const Snapshot& snapshot, int pairs_max, MetricFamilies& families) {
  std::map<std::string, int> by_service;
  for (const InstanceRow& row : snapshot.instances) by_service[row.service.value] += row.connected;
  for (const auto& [service, count] : by_service) {
    families["plimsoll_controller_instances"].Add({service}, count);
  }
  if (snapshot.limits.size() > static_cast<std::size_t>(std::max(0, pairs_max))) return;
  // A fenced session and its successor have the same labels: one series, with what both may use.
  std::map<std::vector<std::string>, std::int64_t> limits;
  for (const LimitRow& row : snapshot.limits) {
    limits[{row.dependency.value, row.service.value, row.instance.value}] += row.granted;
  }
  MetricFamilyBuilder& family = families["plimsoll_controller_instance_limit"];
  for (const auto& [labels, limit] : limits) family.Add(labels, Number(limit));
}

void AddLeadership(const MetricsInput& input, MetricFamilies& families) {
  families["plimsoll_controller_leader"].Add({}, input.leads ? 1 : 0);
  families["plimsoll_controller_shards_owned"].Add({}, input.shards_owned);
  for (std::size_t i = 0; i < input.shards.size(); ++i) {
    const ControllerView::ShardFacts& facts = input.shards[i];
    const bool led = facts.self || !facts.leader.api.empty();
    families["plimsoll_controller_shard_has_leader"].Add({absl::StrCat(i)}, led ? 1 : 0);
  }
}

void AddCore(const MetricsInput& input, MetricFamilies& families) {
  const Snapshot& snapshot = *input.snapshot;
  families["plimsoll_controller_instances_expired_total"].Add(
      {}, static_cast<double>(snapshot.instances_expired_total));
  families["plimsoll_controller_sessions"].Add({}, static_cast<double>(snapshot.instances.size()));
  families["plimsoll_controller_held_syncs"].Add({}, snapshot.held_syncs);
  for (std::size_t i = 0; i < kSyncResults; ++i) {
    families["plimsoll_controller_syncs_total"].Add({kSyncResultNames[i]},
                                                    static_cast<double>(snapshot.syncs_total[i]));
  }
  families["plimsoll_controller_store_write_duration_seconds"].Add({}, input.store_writes);
  for (const char* operation : {"read", "write", "watch"}) {
    const bool write = std::string(operation) == "write";
    families["plimsoll_controller_store_errors_total"].Add(
        {operation}, write ? static_cast<double>(snapshot.write_failures_total) : 0);
  }
}

void AddCoreTimes(const Snapshot& snapshot, MetricFamilies& families) {
  families["plimsoll_controller_report_age_seconds"].Add({}, snapshot.report_ages);
  families["plimsoll_controller_push_latency_seconds"].Add({}, snapshot.push_latencies);
  families["plimsoll_controller_decision_duration_seconds"].Add({}, snapshot.event_times);
}

void AddWatch(const WatchCounts& watch, MetricFamilies& families) {
  families["plimsoll_controller_watchers"].Add({}, Number(watch.open));
  families["plimsoll_controller_watchers_refused_total"].Add({}, Number(watch.refused_total));
  families["plimsoll_controller_watch_events_dropped_total"].Add(
      {}, Number(watch.frames_dropped_total));
}

void AddPlane(const std::string& plane, const PlaneCounts& counts, MetricFamilies& families) {
  std::int64_t limited = 0;
  for (const auto& [key, count] : counts.requests) {
    const auto& [method, route, status] = key;
    if (status == kTooManyRequests) limited += count;
    families["plimsoll_controller_http_requests_total"].Add(
        {plane, method, route, absl::StrCat(status)}, static_cast<double>(count));
  }
  families["plimsoll_controller_http_requests_limited_total"].Add({plane}, Number(limited));
  for (const auto& [route, durations] : counts.durations) {
    families["plimsoll_controller_http_request_duration_seconds"].Add({plane, route}, durations);
  }
  families["plimsoll_controller_http_connections"].Add({plane},
                                                       static_cast<double>(counts.connections));
  families["plimsoll_controller_http_connections_refused_total"].Add(
      {plane}, static_cast<double>(counts.connections_refused));
}

void AddProcess(const MetricsInput& input, MetricFamilies& families) {
  families["plimsoll_controller_config_info"].Add({input.config_hash}, 1);
  families["plimsoll_controller_config_last_reload_successful"].Add({},
                                                                    input.load.succeeded ? 1 : 0);
  families["plimsoll_controller_config_last_reload_success_timestamp_seconds"].Add(
      {}, absl::ToDoubleSeconds(input.load.last_success - absl::UnixEpoch()));
  families["plimsoll_controller_build_info"].Add({input.version, input.revision}, 1);
  families["process_cpu_seconds_total"].Add({}, input.process.cpu_seconds);
  families["process_resident_memory_bytes"].Add({}, input.process.resident_bytes);
  families["process_open_fds"].Add({}, input.process.open_fds);
  families["process_max_fds"].Add({}, input.process.max_fds);
  families["process_start_time_seconds"].Add({}, input.process.start_time_seconds);
}

}  // namespace

std::string ExportMetrics(const MetricsInput& input) {
  MetricFamilies families;
  AddDependencies(input, families);
  AddCoreTimes(*input.snapshot, families);
  AddWatch(input.watch, families);
  AddInstances(*input.snapshot, input.pairs_max, families);
  AddCore(input, families);
  AddLeadership(input, families);
  AddPlane("api", input.api, families);
  AddPlane("agent", input.agent, families);
  AddProcess(input, families);
  return families.Serialize();
}

}  // namespace plimsoll::internal
