#include "plimsoll/controller/policy.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "plimsoll/algorithms/law_settings.h"
#include "plimsoll/controller/options.h"
#include "plimsoll/controller/snapshot.h"
#include "plimsoll/controller/store.h"
#include "plimsoll/core/violations.h"

namespace plimsoll {
namespace {

void CheckWindow(const WindowConfig& window, Violations& violations) {
  violations.Require(window.length >= absl::Milliseconds(100) && window.length <= absl::Minutes(1),
                     "window.length", window.length, "must be between 100ms and 1m");
  violations.Require(window.samples_min >= 1, "window.min_samples", window.samples_min,
                     "must be at least 1");
  violations.Require(window.percentile > 0 && window.percentile <= 1, "window.percentile",
                     window.percentile, "must be above 0 and at most 1");
  violations.Require(window.latency_ceiling > absl::ZeroDuration(), "window.latency_ceiling",
                     window.latency_ceiling, "must be above 0");
  violations.Require(window.drop_tolerance >= 0 && window.drop_tolerance < 1,
                     "window.drop_tolerance", window.drop_tolerance,
                     "must be at least 0 and below 1");
}

void CheckOutage(const Policy& policy, absl::Duration lease, Violations& violations) {
  const OutageConfig& outage = policy.outage;
  violations.Require(policy.base() >= 0 && policy.base() <= policy.algorithm.ceiling, "outage.base",
                     policy.base(),
                     absl::StrCat("must be between 0 and the ceiling, ", policy.algorithm.ceiling));
  violations.Require(outage.reserve >= 0 && outage.reserve <= policy.base(), "outage.reserve",
                     outage.reserve,
                     absl::StrCat("must be between 0 and the base, ", policy.base()));
  violations.Require(
      outage.base_lease >= lease && outage.base_lease <= absl::Hours(24), "outage.base_lease",
      outage.base_lease,
      absl::StrCat("must be between the lease, ", absl::FormatDuration(lease), ", and 24h"));
}

void CheckQuota(const Policy& policy, Violations& violations) {
  if (!policy.quota.has_value()) return;
  const Calls quota = *policy.quota;
  violations.Require(quota >= 1 && quota <= kCallsMax, "quota.capacity", quota,
                     absl::StrCat("must be between 1 and ", kCallsMax));
  const std::int64_t floors =
      std::int64_t{policy.algorithm.floor} * std::int64_t{policy.instances_expected};
  violations.Require(
      floors <= quota, "floor", policy.algorithm.floor,
      absl::StrCat("times ", policy.instances_expected, " expected instances is ", floors,
                   ", above the quota of ", quota, "; lower the floor or raise the quota"));
  violations.Require(policy.algorithm.floor <= quota, "floor", policy.algorithm.floor,
                     absl::StrCat("must not be above the quota, ", quota));
}

void CheckService(const std::string& prefix, const ServiceShare& share, Violations& violations) {
  const std::string weight = prefix + "weight";
  violations.Require(share.weight > 0 && std::isfinite(share.weight), weight, share.weight,
                     "must be a finite number above 0");
  const std::string minimum = prefix + "min_share";
  violations.Require(share.minimum >= 0 && share.minimum <= kCallsMax, minimum, share.minimum,
                     absl::StrCat("must be between 0 and ", kCallsMax));
  const std::string maximum = prefix + "max_share";
  const Calls most = share.maximum.value_or(kCallsMax);
  violations.Require(
      most <= kCallsMax && (most >= share.minimum || share.minimum > kCallsMax), maximum, most,
      absl::StrCat("must be between the min_share, ", share.minimum, ", and ", kCallsMax));
  const std::string priority = prefix + "priority";
  violations.Require(share.priority >= 0 && share.priority <= 7, priority, share.priority,
                     "must be between 0, served first, and 7");
  const std::string lend = prefix + "lend";
  violations.Require(share.lend >= 0 && share.lend <= 1, lend, share.lend,
                     "must be between 0 and 1");
}

void CheckServices(const Policy& policy, Violations& violations) {
  std::int64_t minima = 0;
  std::vector<std::string> summands;
  for (const auto& [service, share] : policy.services) {
    violations.Require(IsValidName(service.value), "quota.services", service.value,
                       "names must be 1 to 63 letters, digits, '.', '_' or '-'");
    CheckService(absl::StrCat("quota.services.", service.value, "."), share, violations);
    minima += share.minimum;
    if (share.minimum > 0) summands.push_back(absl::StrCat(service.value, " ", share.minimum));
  }
  violations.Require(minima <= policy.quota_or_max(), "quota.services", minima,
                     absl::StrCat("the sum of min_share (", absl::StrJoin(summands, ", "),
                                  ") must not be above the quota, ", policy.quota_or_max()));
}

void CheckJoinReserve(const Policy& policy, Violations& violations) {
  if (!policy.join_reserve.has_value()) return;
  violations.Require(
      *policy.join_reserve >= 0 && *policy.join_reserve < policy.quota_or_max(),
      "quota.join_reserve", *policy.join_reserve,
      absl::StrCat("must be at least 0 and below the quota, ", policy.quota_or_max()));
}

void CheckInitial(const Policy& policy, Violations& violations) {
  if (!policy.initial.has_value()) return;
  const Calls top =
      policy.scope == Scope::kFleet ? policy.quota_or_max() : policy.algorithm.ceiling;
  violations.Require(
      *policy.initial >= policy.algorithm.floor && *policy.initial <= top, "initial",
      *policy.initial,
      absl::StrCat("must be between the floor, ", policy.algorithm.floor, ", and the ",
                   policy.scope == Scope::kFleet ? "quota, " : "ceiling, ", top));
}

std::string Exact(absl::Duration value) {
  return value == absl::InfiniteDuration() ? "inf" : absl::StrCat(absl::ToInt64Nanoseconds(value));
}
std::string Exact(double value) { return absl::StrFormat("%.17g", value); }
std::string Exact(int value) { return absl::StrCat(value); }
std::string Exact(bool value) { return value ? "true" : "false"; }
std::string Exact(VegasStep value) { return std::string(ToString(value)); }
std::string Exact(const LogRule& value) { return ToString(value); }

// The same for two policies if their laws are the same, with all their settings.
std::string LawText(const Policy& policy) {
  const AlgorithmConfig& config = policy.algorithm;
  std::string text = absl::StrCat(std::string(ToString(config.kind)), " ", config.floor, " ",
                                  config.ceiling, " ", config.initial);
  VisitLaws(config, [&text](AlgorithmKind /*kind*/, const auto& law) {
    VisitSettings(law, [&text](const std::string& /*name*/, const auto& value) {
      absl::StrAppend(&text, " ", Exact(value));
    });
  });
  return text;
}

}  // namespace

Calls Policy::join_reserve_or_default() const {
  constexpr Calls small_quota = 50;
  constexpr Calls one_of = 50;  // 2 %
  if (join_reserve.has_value()) return *join_reserve;
  if (!quota.has_value() || *quota < small_quota) return 0;
  return (*quota + one_of - 1) / one_of;
}

std::string_view ToString(Scope scope) { return scope == Scope::kFleet ? "FLEET" : "INSTANCE"; }

std::string_view ToString(Mode mode) {
  switch (mode) {
    case Mode::kEnforce:
      return "ENFORCE";
    case Mode::kObserve:
      return "OBSERVE";
    case Mode::kDisabled:
      return "DISABLED";
  }
  return "ENFORCE";
}

std::string_view ToString(LeaseStage stage) {
  switch (stage) {
    case LeaseStage::kLease:
      return "LEASE";
    case LeaseStage::kBase:
      return "BASE";
    case LeaseStage::kReserve:
      return "RESERVE";
  }
  return "LEASE";
}

std::string_view ToString(StoreCondition condition) {
  switch (condition) {
    case StoreCondition::kWhole:
      return "WHOLE";
    case StoreCondition::kNew:
      return "NEW";
    case StoreCondition::kLost:
      return "LOST";
  }
  return "WHOLE";
}

bool SameQuota(const Policy& a, const Policy& b) {
  return a.quota == b.quota && a.services == b.services && a.join_reserve == b.join_reserve;
}

bool operator==(const Policy& a, const Policy& b) {
  return a.name == b.name && a.description == b.description && SameQuota(a, b) &&
         a.scope == b.scope && a.mode == b.mode && a.initial == b.initial && a.window == b.window &&
         a.call_deadline == b.call_deadline && a.outage == b.outage && a.breaker == b.breaker &&
         a.instances_expected == b.instances_expected && LawText(a) == LawText(b);
}

absl::Status Validate(const Policy& policy, absl::Duration lease) {
  Violations violations;
  violations.Require(IsValidName(policy.name.value), "name", policy.name.value,
                     "must be 1 to 63 letters, digits, '.', '_' or '-'");
  violations.Add(Validate(policy.algorithm));
  violations.Require(
      policy.call_deadline >= absl::Milliseconds(1) && policy.call_deadline <= absl::Hours(24),
      "call_deadline", policy.call_deadline, "must be between 1ms and 24h");
  violations.Require(policy.instances_expected >= 0, "quota.instances_expected",
                     policy.instances_expected, "must not be negative");
  CheckWindow(policy.window, violations);
  CheckQuota(policy, violations);
  CheckServices(policy, violations);
  CheckJoinReserve(policy, violations);
  CheckInitial(policy, violations);
  CheckOutage(policy, lease, violations);
  if (policy.breaker.has_value()) {
    violations.AddAll(ViolationsOf(*policy.breaker), "breaker.");
  }
  return violations.ToStatus();
}

absl::Status Validate(const CoreOptions& options) {
  Violations violations;
  violations.Require(options.lease >= absl::Milliseconds(500) && options.lease <= absl::Minutes(10),
                     "lease", options.lease, "must be between 500ms and 10m");
  violations.Require(
      options.hold_max >= absl::ZeroDuration() && options.hold_max * 10 <= options.lease,
      "hold_max", options.hold_max,
      "must be between 0 and a tenth of the lease, since a hold costs lease time");
  violations.Require(
      options.sync_min >= absl::ZeroDuration() && options.sync_min <= absl::Seconds(10), "sync_min",
      options.sync_min, "must be between 0 and 10s");
  violations.Require(options.tick >= absl::Milliseconds(10) && options.tick <= absl::Seconds(10),
                     "tick", options.tick, "must be between 10ms and 10s");
  violations.Require(options.clock_rate_error >= 0 && options.clock_rate_error <= 0.2,
                     "clock_drift", options.clock_rate_error, "must be between 0 and 0.2");
  violations.Require(options.sessions_max >= 1 && options.sessions_max <= 1'000'000, "sessions_max",
                     options.sessions_max, "must be between 1 and 1000000");
  violations.Require(options.dependencies_max >= 1 && options.dependencies_max <= 10'000,
                     "dependencies_max", options.dependencies_max, "must be between 1 and 10000");
  violations.Require(options.raises_per_write >= 1, "raises_per_write", options.raises_per_write,
                     "must be 1 or more");
  violations.Require(options.events_keep >= 1 && options.events_keep <= 1'000'000, "events.keep",
                     options.events_keep, "must be between 1 and 1000000");
  return violations.ToStatus();
}

}  // namespace plimsoll
