#include "api/cli/src/policy_writer.h"

#include <string>

namespace plimsoll::cli {
namespace {

void WriteWindow(YamlWriter& policy, const WindowConfig& window) {
  const WindowConfig usual;
  YamlWriter map = policy.Open();
  map.Duration("length", window.length, usual.length);
  map.Whole("min_samples", window.samples_min, usual.samples_min);
  map.Number("percentile", window.percentile, usual.percentile);
  map.Number("drop_tolerance", window.drop_tolerance, usual.drop_tolerance);
  policy.Close("window", map);
}

void WriteAimd(YamlWriter& policy, const AimdConfig& aimd) {
  const AimdConfig usual;
  YamlWriter map = policy.Open();
  map.Duration("latency_threshold", aimd.latency_threshold, usual.latency_threshold);
  map.Number("backoff", aimd.backoff, usual.backoff);
  map.Whole("increase", aimd.increase, usual.increase);
  policy.Close("aimd", map);
}

void WriteGradient2(YamlWriter& policy, const Gradient2Config& gradient2) {
  const Gradient2Config usual;
  YamlWriter map = policy.Open();
  map.Number("rtt_tolerance", gradient2.rtt_tolerance, usual.rtt_tolerance);
  map.Number("smoothing", gradient2.smoothing, usual.smoothing);
  map.Whole("queue_size", gradient2.queue_size, usual.queue_size);
  map.Whole("long_window", gradient2.long_window, usual.long_window);
  policy.Close("gradient2", map);
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
  WriteAimd(map, policy.algorithm.aimd);
  WriteGradient2(map, policy.algorithm.gradient2);
  WriteQuota(map, policy);
  WriteOutage(map, policy.outage);
  top.Close("policy", map);
}

}  // namespace plimsoll::cli
