#include "api/cli/src/policy_writer.h"

#include <string>

#include "api/cli/src/law_writer.h"

namespace plimsoll::cli {
namespace {

void WriteWindow(YamlWriter& policy, const WindowConfig& window) {
  const WindowConfig usual;
  YamlWriter map = policy.Open();
  map.Duration("length", window.length, usual.length);
  map.Whole("min_samples", window.samples_min, usual.samples_min);
  if (window.latency == LatencySignal::kMean) map.Raw("latency", "mean");
  map.Number("percentile", window.percentile, usual.percentile);
  map.Duration("latency_ceiling", window.latency_ceiling, usual.latency_ceiling);
  map.Number("drop_tolerance", window.drop_tolerance, usual.drop_tolerance);
  policy.Close("window", map);
}

void WriteServices(YamlWriter& quota, const Policy& policy) {
  const ServiceShare usual;
  YamlWriter services = quota.Open();
  for (const auto& [name, share] : policy.services) {
    YamlWriter map = services.Open();
    map.Raw("weight", NumberText(share.weight));
    map.Whole("min_share", share.minimum, usual.minimum);
    map.Optional("max_share", share.maximum);
    map.Whole("priority", share.priority, usual.priority);
    map.Number("lend", share.lend, usual.lend);
    services.Close(name.value, map);
  }
  quota.Close("services", services);
}

void WriteQuota(YamlWriter& top, const Policy& policy) {
  YamlWriter map = top.Open();
  map.Optional("capacity", policy.quota);
  map.Whole("instances_expected", policy.instances_expected, 0);
  map.Optional("join_reserve", policy.join_reserve);
  WriteServices(map, policy);
  top.Close("quota", map);
}

void WriteOutage(YamlWriter& policy, const OutageConfig& outage) {
  const OutageConfig usual;
  YamlWriter map = policy.Open();
  map.Optional("base", outage.base);
  map.Duration("base_lease", outage.base_lease, usual.base_lease);
  map.Whole("reserve", outage.reserve, usual.reserve);
  policy.Close("outage", map);
}

}  // namespace

void WritePolicy(YamlWriter& top, const Policy& policy, const std::optional<Scope>& scope) {
  const Policy usual;
  YamlWriter map = top.Open();
  if (policy.mode == Mode::kObserve) map.Raw("mode", "observe");
  if (policy.mode == Mode::kDisabled) map.Raw("mode", "disabled");
  if (scope.has_value()) map.Raw("scope", *scope == Scope::kFleet ? "fleet" : "instance");
  map.Raw("algorithm", std::string(ToString(policy.algorithm.kind)));
  map.Whole("floor", policy.algorithm.floor, usual.algorithm.floor);
  map.Whole("ceiling", policy.algorithm.ceiling, usual.algorithm.ceiling);
  const bool moved = policy.algorithm.initial != usual.algorithm.initial;
  if (policy.initial.has_value() || moved) {
    map.Raw("initial", absl::StrCat(policy.initial.value_or(policy.algorithm.initial)));
  }
  map.Duration("call_deadline", policy.call_deadline, usual.call_deadline);
  WriteWindow(map, policy.window);
  WriteLaws(map, policy.algorithm);
  WriteQuota(map, policy);
  WriteOutage(map, policy.outage);
  top.Close("policy", map);
}

}  // namespace plimsoll::cli
