#include "tests/unit/api/snapshot_samples.h"

namespace plimsoll {
namespace {

constexpr Instant kNow{1'000'000'000'000};

LimitRow SampleLimit(const char* instance, Calls granted) {
  LimitRow row;
  row.dependency = DependencyId("payments-api");
  row.service = ServiceId("checkout");
  row.instance = InstanceId(instance);
  row.session = SessionId(std::string("7-") + instance);
  row.enforced = granted;
  row.granted = granted;
  row.reserved = granted + 1;
  row.wanted = 61;
  row.in_flight = granted - 1;
  row.in_flight_max = granted;
  row.steps = {granted, 5, 0};
  row.explanation = {61,   granted, 5, 200, BindingConstraint::kQuota, Reason::kQuotaRebalanced,
                     "7-3"};
  row.age = absl::Milliseconds(800);
  row.changed_at = kNow - absl::Seconds(4);
  return row;
}

InstanceRow SampleInstance(const char* instance, bool connected) {
  InstanceRow row;
  row.session = SessionId(std::string("7-") + instance);
  row.service = ServiceId("checkout");
  row.instance = InstanceId(instance);
  row.agent_version = "0.1.0";
  row.connected = connected;
  row.age = absl::Milliseconds(800);
  row.joined_at = kNow - absl::Minutes(2);
  row.dependencies = {DependencyId("payments-api")};
  return row;
}

DependencyRow SampleDependency(const char* name) {
  DependencyRow row;
  row.policy.name = DependencyId(name);
  row.policy.algorithm.kind = AlgorithmKind::kGradient2;
  return row;
}

}  // namespace

Snapshot SampleSnapshot() {
  Snapshot snapshot;
  snapshot.epoch = Epoch(7);
  snapshot.at = kNow;
  snapshot.started_at = kNow - absl::Hours(1);
  snapshot.dependencies = {SampleDependency("orders-db"), SampleDependency("payments-api")};
  DependencyRow& payments = snapshot.dependencies[1];
  payments.breaker.emplace();
  payments.breaker->view = BreakerView::kProbing;
  payments.breaker->opened_total = 3;
  payments.breaker->prober = InstanceId("checkout-0");
  payments.breaker->evidence = {100, 20, 3, 2, 1};
  payments.breaker->instances = 2;
  payments.breaker->cool_off_left = absl::Milliseconds(1250);
  payments.policy.quota = 50;
  payments.policy.call_deadline = absl::Milliseconds(2500);
  payments.instances = 2;
  payments.granted = 49;
  payments.reserved = 51;
  payments.draining = 1;
  payments.orphaned = 1;
  payments.wanted = 122;
  payments.in_flight = 47;
  payments.algorithm_limit = 64;
  payments.baseline = absl::Milliseconds(11);
  payments.latency_p99 = absl::Milliseconds(412);
  payments.windows_total = {5, 4, 3, 2};
  payments.limit_changes_total[static_cast<std::size_t>(Reason::kLatencyRose)] = {6, 0};
  snapshot.instances = {SampleInstance("checkout-0", true), SampleInstance("checkout-1", false)};
  snapshot.limits = {SampleLimit("checkout-0", 38), SampleLimit("checkout-1", 11)};
  snapshot.held_syncs = 1;
  snapshot.syncs_total = {10, 2, 3, 4};
  return snapshot;
}

}  // namespace plimsoll
