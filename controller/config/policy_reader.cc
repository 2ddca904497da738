#include "controller/config/policy_reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "controller/config/law_reader.h"

namespace plimsoll {
namespace {

constexpr char kDefaults[] = "/defaults";

void ReadWindow(MapReader window, WindowConfig& target) {
  window.Duration("length", target.length);
  window.Whole("min_samples", target.samples_min);
  window.Word<LatencySignal>(
      "latency", {{"percentile", LatencySignal::kPercentile}, {"mean", LatencySignal::kMean}}, {},
      target.latency);
  window.Number("percentile", target.percentile);
  window.Duration("latency_ceiling", target.latency_ceiling);
  window.Number("drop_tolerance", target.drop_tolerance);
  window.Finish();
}

void ReadOptional(MapReader& map, const std::string& key, std::optional<Calls>& target) {
  // A number that does not fit is reported, and stands as absent.
  std::int32_t value = -1;
  map.Whole(key, value);
  if (value != -1) target = value;
}

void ReadService(MapReader service, ServiceShare& target) {
  service.Number("weight", target.weight);
  service.Whole("min_share", target.minimum);
  ReadOptional(service, "max_share", target.maximum);
  service.Whole("priority", target.priority);
  service.Number("lend", target.lend);
  service.Finish();
}

// What a dependency does not say of a service, the defaults may have said.
void ReadServices(MapReader& quota, std::map<ServiceId, ServiceShare>& target, Faults& faults) {
  const YamlNode* const node = quota.Find("services");
  if (node == nullptr) return;
  const std::string pointer = quota.Pointer("services");
  MapReader services(*node, pointer, faults);
  for (const auto& [name, value] : node->members) {
    if (!IsValidName(name)) {
      services.Find(name);  // or it would be unknown as well
      faults.Add(services.Pointer(name),
                 absl::StrCat(Quoted(name), " is no name of a service: they have 1 to 63 letters, ",
                              "digits, '.', '_', '-' or '~'"));
      continue;
    }
    ReadService(services.Map(name), target[ServiceId(name)]);
  }
  services.Finish();
}

void ReadQuota(MapReader quota, Policy& policy, Faults& faults) {
  ReadOptional(quota, "capacity", policy.quota);
  quota.Whole("instances_expected", policy.instances_expected);
  ReadOptional(quota, "join_reserve", policy.join_reserve);
  ReadServices(quota, policy.services, faults);
  // There is one way of sharing so far.
  bool fair = true;
  quota.Word<bool>("policy", {{"fair_share", true}}, {}, fair);
  quota.Finish();
}

void ReadOutage(MapReader outage, OutageConfig& target) {
  ReadOptional(outage, "base", target.base);
  outage.Duration("base_lease", target.base_lease);
  outage.Whole("reserve", target.reserve);
  outage.Finish();
}

void ReadCount(MapReader& map, const std::string& key, std::int64_t& target) {
  std::int32_t value = -1;
  map.Whole(key, value);
  if (value != -1) target = value;
}

// The key alone, even without a value, means a breaker with the defaults; `enabled: false` takes
// away what the defaults of the file have said.
void ReadBreaker(MapReader& parent, std::optional<BreakerSettings>& target) {
  if (parent.Find("breaker") == nullptr) return;
  MapReader breaker = parent.Map("breaker");
  bool enabled = true;
  BreakerSettings settings = target.value_or(BreakerSettings());
  breaker.Flag("enabled", enabled);
  ReadCount(breaker, "consecutive_failures", settings.rules.consecutive_failures);
  breaker.Number("failure_rate", settings.rules.failure_rate);
  breaker.Number("slow_rate", settings.rules.slow_rate);
  ReadCount(breaker, "calls_min", settings.rules.calls_min);
  breaker.Duration("slow_after", settings.slow_after);
  breaker.Duration("window", settings.window);
  breaker.Duration("hang_after", settings.hang_after);
  breaker.Duration("cool_off", settings.cool_off);
  breaker.Duration("cool_off_max", settings.cool_off_max);
  breaker.Number("cool_off_growth", settings.cool_off_growth);
  breaker.Number("cool_off_jitter", settings.cool_off_jitter);
  breaker.Duration("probe_deadline", settings.probe_deadline);
  breaker.Whole("probes_to_close", settings.probes_to_close);
  breaker.Whole("probe_failures_to_open", settings.probe_failures_to_open);
  breaker.Finish();
  target = enabled ? std::optional(settings) : std::nullopt;
}

// The keys that a dependency and "defaults" have in common.
void ReadSettings(MapReader& map, Policy& policy, Faults& faults) {
  map.Word<Mode>(
      "mode",
      {{"enforce", Mode::kEnforce}, {"observe", Mode::kObserve}, {"disabled", Mode::kDisabled}}, {},
      policy.mode);
  map.Word<Scope>("scope", {{"fleet", Scope::kFleet}, {"instance", Scope::kInstance}}, {},
                  policy.scope);
  ReadLaws(map, policy.algorithm, faults);
  map.Whole("floor", policy.algorithm.floor);
  map.Whole("ceiling", policy.algorithm.ceiling);
  ReadOptional(map, "initial", policy.initial);
  map.Duration("call_deadline", policy.call_deadline);
  ReadWindow(map.Map("window"), policy.window);
  ReadQuota(map.Map("quota"), policy, faults);
  ReadOutage(map.Map("outage"), policy.outage);
  ReadBreaker(map, policy.breaker);
}

// Where a violation of `name` is best shown if the file does not set it: at what collides with it.
std::string Partner(const std::string& name) {
  if (name == "ceiling") return "floor";
  if (name == "floor") return "quota/capacity";
  if (name == "initial") return "algorithm";
  if (name == "outage/reserve") return "outage/base";
  if (name == "outage/base") return "ceiling";
  if (name == "quota/join_reserve") return "quota/capacity";
  return "";
}

std::string PointerOf(const std::string& name, const std::string& pointer,
                      const std::string& fallback, const Faults& faults) {
  for (const std::string& key : {name, Partner(name)}) {
    for (const std::string& parent : {pointer, fallback}) {
      std::string candidate = absl::StrCat(parent, "/", key);
      if (!key.empty() && faults.Written(candidate)) return candidate;
    }
  }
  return absl::StrCat(pointer, "/", name);
}

// These two are taken from the floor where nobody has set them. If that makes them impossible, the
// floor or the ceiling is what to mend, and is reported by itself.
bool FollowsFromOthers(const std::string& name, const std::string& pointer,
                       const std::string& fallback, const Faults& faults) {
  if (name != "initial" && name != "outage/base") return false;
  return !faults.Written(absl::StrCat(pointer, "/", name)) &&
         !faults.Written(absl::StrCat(fallback, "/", name));
}

// `initial` has to fit the bounds even where nobody has set it.
void FitInitial(Policy& policy) {
  AlgorithmConfig& algorithm = policy.algorithm;
  if (algorithm.floor > algorithm.ceiling) return;
  algorithm.initial =
      std::clamp(policy.initial.value_or(algorithm.initial), algorithm.floor, algorithm.ceiling);
}

void Check(Policy policy, absl::Duration lease, const std::string& pointer, Faults& faults) {
  // A name that is missing has been reported already.
  if (policy.name.empty()) policy.name = DependencyId("unnamed");
  ReportViolations(Validate(policy, lease), pointer, kDefaults, faults);
}

// One item of "dependencies": of one name, or of all that match a pattern.
struct PolicyItem {
  std::string pattern;  // empty: it has a name
  Policy policy;
};

void ReadName(MapReader& map, const std::string& key, std::string& target, Faults& faults) {
  map.Text(key, target);
  const YamlNode* const node = map.Find(key);
  if (node != nullptr && node->kind == YamlNode::Kind::kScalar && node->text.empty()) {
    faults.Add(map.Pointer(key), "must not be empty");
  }
}

void ReadNames(MapReader& map, const std::string& pointer, PolicyItem& item, Faults& faults) {
  ReadName(map, "name", item.policy.name.value, faults);
  ReadName(map, "match", item.pattern, faults);
  const bool named = map.Find("name") != nullptr;
  const bool matching = map.Find("match") != nullptr;
  if (!named && !matching) {
    faults.Add(pointer, "has no \"name\", and no \"match\" for all whose names are like a pattern",
               FaultCode::kRequired);
  } else if (named && matching) {
    faults.Add(map.Pointer("match"), "has a \"name\" as well: one of the two must go",
               FaultCode::kConflict);
  } else if (matching && !item.pattern.empty() && !IsPattern(item.pattern)) {
    faults.Add(map.Pointer("match"),
               absl::StrCat("must be a pattern such as \"search-*\": letters, digits, '.', '_', "
                            "'~', '-', '*' for any text and '?' for one character, not ",
                            Quoted(item.pattern), "; what has no '*' or '?' is a \"name\""));
  }
}

PolicyItem ReadItem(const YamlNode& node, const std::string& pointer, const Policy& defaults,
                    Faults& faults) {
  MapReader map(node, pointer, faults);
  PolicyItem item{"", defaults};
  if (node.kind == YamlNode::Kind::kMap || node.kind == YamlNode::Kind::kNull) {
    ReadNames(map, pointer, item, faults);
  }
  map.Text("description", item.policy.description);
  ReadSettings(map, item.policy, faults);
  map.Finish();
  FitInitial(item.policy);
  return item;
}

// "quota.services.web.v2.weight" is quota/services/web.v2/weight: names may have dots.
std::string PathOf(const std::string& name) {
  const std::string services = "quota.services.";
  const std::size_t key = name.rfind('.');
  if (!absl::StartsWith(name, services) || key < services.size()) {
    return absl::StrReplaceAll(name, {{".", "/"}});
  }
  const std::string service = name.substr(services.size(), key - services.size());
  return absl::StrCat("quota/services/", service, "/", name.substr(key + 1));
}

}  // namespace

std::vector<std::string> SplitViolations(const std::string& message) {
  std::vector<std::string> violations;
  const std::vector<std::string> parts = absl::StrSplit(message, "; ");
  for (const std::string& part : parts) {
    const auto name_end = std::find_if_not(part.begin(), part.end(), [](char c) {
      // Names of services and places in lists are part of some.
      return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
             c == '-' || c == '~' || c == '[' || c == ']';
    });
    const bool begins = absl::StartsWith(std::string(name_end, part.end()), " = ");
    if (begins || violations.empty()) {
      violations.push_back(part);
    } else {
      absl::StrAppend(&violations.back(), "; ", part);
    }
  }
  return violations;
}

void ReportViolations(const absl::Status& status, const std::string& pointer,
                      const std::string& fallback, Faults& faults) {
  if (status.ok()) return;
  for (const std::string& violation : SplitViolations(std::string(status.message()))) {
    const std::size_t end = violation.find(" = ");
    const std::string name = PathOf(violation.substr(0, end));
    if (FollowsFromOthers(name, pointer, fallback, faults)) continue;
    faults.Add(PointerOf(name, pointer, fallback, faults), violation, FaultCode::kOutOfRange);
  }
}

Policy ReadPolicy(MapReader map, Policy policy, absl::Duration lease, Faults& faults) {
  const std::string pointer = map.pointer();
  ReadSettings(map, policy, faults);
  map.Finish();
  FitInitial(policy);
  ReportViolations(Validate(policy, lease), pointer, pointer, faults);
  return policy;
}

Policy ReadDependency(MapReader map, Policy policy, absl::Duration lease, Faults& faults) {
  std::string name = policy.name.value;
  map.Text("name", name);
  if (name != policy.name.value) {
    faults.Add(map.Pointer("name"),
               absl::StrCat("must be ", Quoted(policy.name.value), ", as in the address, not ",
                            Quoted(name)),
               FaultCode::kConflict);
  }
  map.Text("description", policy.description);
  ReadSettings(map, policy, faults);
  map.Ignore(
      {"status", "revision", "origin", "template", "create_time", "update_time", "override"});
  map.Finish();
  FitInitial(policy);
  ReportViolations(Validate(policy, lease), "", "", faults);
  return policy;
}

void ReadQuotaOf(MapReader map, Policy& policy, absl::Duration lease, Faults& faults) {
  map.Ignore({"dependency", "granted", "reserved", "draining", "orphaned", "unallocated", "wanted",
              "shares", "revision"});
  ReadQuota(std::move(map), policy, faults);
  FitInitial(policy);
  Faults found;
  ReportViolations(Validate(policy, lease), "", "", found);
  for (const Fault& fault : found.Sorted()) {
    const std::string prefix = "/quota";
    const bool below = absl::StartsWith(fault.pointer, prefix + "/");
    faults.Add(below ? fault.pointer.substr(prefix.size()) : "", fault.message, fault.code);
  }
}

PolicyList ReadPolicies(MapReader& top, Policy defaults, absl::Duration lease, Faults& faults) {
  MapReader defaults_map = top.Map("defaults");
  ReadSettings(defaults_map, defaults, faults);
  defaults_map.Finish();
  FitInitial(defaults);
  const std::vector<YamlNode>& items = top.List("dependencies");
  // Without dependencies nobody else would look at the defaults.
  if (items.empty()) Check(defaults, lease, kDefaults, faults);
  PolicyList list{{}, {}, defaults};
  std::map<std::string, std::size_t> seen;  // no pattern is a name
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string pointer = absl::StrCat("/dependencies/", i);
    const PolicyItem item = ReadItem(items[i], pointer, defaults, faults);
    Check(item.policy, lease, pointer, faults);
    const bool is_template = !item.pattern.empty();
    const std::string& name = is_template ? item.pattern : item.policy.name.value;
    if (name.empty()) continue;
    const auto [first, is_new] = seen.emplace(name, i);
    if (!is_new) {
      faults.Add(pointer + (is_template ? "/match" : "/name"),
                 absl::StrCat(Quoted(name), " is taken by /dependencies/", first->second, ": ",
                              is_template ? "patterns" : "names", " must be unique"),
                 FaultCode::kConflict);
    }
    if (is_template) {
      list.templates.emplace(name, item.policy);
    } else {
      list.policies.emplace(item.policy.name, item.policy);
    }
  }
  return list;
}

}  // namespace plimsoll
