#include "api/cli/src/why_advice.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "api/cli/src/humane.h"

namespace plimsoll::cli {
namespace {

// Latency is this much above the baseline: the dependency is not well.
constexpr double kSlow = 2;
// Of what an instance holds, it uses less than this: others could have the rest.
constexpr double kIdle = 0.5;

bool IsSlow(const Json& dependency) {
  const double baseline = NumberAt(dependency, "/status/baseline_latency_seconds");
  return baseline > 0 && NumberAt(dependency, "/status/latency_p50_seconds") > kSlow * baseline;
}

std::string Name(const WhyFacts& facts) { return TextAt(facts.dependency, "/name"); }

std::string LookAtDependency(const WhyFacts& facts) {
  return absl::StrCat("Look at ", Name(facts),
                      " itself: is it slow, failing, or short of servers?");
}

void AdviseOnQuota(const WhyFacts& facts, std::vector<std::string>& advice) {
  double idle = 0;
  std::string example;
  for (const Json& share : At(facts.quota, "/shares")) {
    const double granted = NumberAt(share, "/granted");
    const double used = NumberAt(share, "/in_flight");
    if (granted < 2 || used >= kIdle * granted) continue;
    idle += granted - used;
    if (example.empty()) example = TextAt(share, "/instance_id");
  }
  const double orphaned = NumberAt(facts.quota, "/orphaned");
  if (orphaned > 0) {
    advice.push_back(absl::StrCat(
        HumaneNumber(orphaned),
        " are reserved for instances that went silent, and come back when their holds end: see "
        "plimsoll get instances, and plimsoll evict those that will not return."));
  }
  if (idle >= 1) {
    advice.push_back(absl::StrCat("Others hold ", HumaneNumber(idle), " that they do not use (",
                                  example,
                                  " for one): shares follow demand within a few seconds."));
  }
  if (IsSlow(facts.dependency)) {
    advice.push_back(absl::StrCat("Do not raise the quota yet: ", Name(facts), " is slow already. ",
                                  LookAtDependency(facts)));
  } else {
    advice.push_back(absl::StrCat("If ", Name(facts), " can take more: plimsoll set quota ",
                                  Name(facts), " --capacity N. plimsoll size ", Name(facts),
                                  " says how many."));
  }
}

void AdviseByConstraint(const WhyFacts& facts, const Json& row, const std::string& binding,
                        std::vector<std::string>& advice) {
  const std::string name = Name(facts);
  if (binding == "QUOTA") return AdviseOnQuota(facts, advice);
  if (binding == "OVERRIDE") {
    advice.push_back(
        absl::StrCat("If the reason of the override is over: plimsoll unset override ", name, "."));
  } else if (binding == "CEILING") {
    advice.push_back(absl::StrCat("If ", name,
                                  " is well, raise its ceiling in the policy: plimsoll "
                                  "size ",
                                  name, " advises one."));
  } else if (binding == "FLOOR") {
    advice.push_back(LookAtDependency(facts));
    advice.push_back("Raising the floor would send it more calls than it can do.");
  } else if (binding == "FALLBACK") {
    advice.push_back(absl::StrCat("Look why ", TextAt(row, "/instance_id"),
                                  " does not reach the controller: its log, the network between, "
                                  "and plimsoll get instances."));
  } else {
    advice.push_back(LookAtDependency(facts));
    advice.push_back(
        "The limit rises by itself when latency falls; more calls now would only wait.");
  }
}

}  // namespace

std::vector<std::string> AdviceFor(const WhyFacts& facts, const Json* row) {
  std::vector<std::string> advice;
  const std::string name = Name(facts);
  const std::string breaker = TextAt(facts.dependency, "/status/breaker/state");
  if (!breaker.empty() && breaker != "CLOSED") {
    advice.push_back(LookAtDependency(facts));
    advice.push_back("The breaker closes by itself when a probe succeeds.");
    return advice;
  }
  if (row == nullptr) {
    return {
        absl::StrCat("Start an agent that names ", name, ", or look at plimsoll get instances.")};
  }
  const bool learning = At(facts.dependency, "/status/learning") == Json(true);
  if (learning)
    advice.push_back("The controller is learning after a restart and raises nothing: wait.");
  const Json& enforced = At(*row, "/enforced");
  const bool full = enforced.is_number() &&
                    std::max(NumberAt(*row, "/in_flight"), NumberAt(*row, "/in_flight_max")) >=
                        enforced.get<double>();
  const bool refuses = NumberAt(facts.dependency, "/status/rejected_per_second") > 0;
  if (!enforced.is_number()) {
    advice.push_back("Nothing: calls pass. What would be refused is counted only.");
  } else if (full || refuses) {
    AdviseByConstraint(facts, *row, TextAt(*row, "/binding_constraint"), advice);
  } else {
    advice.push_back(absl::StrCat("Nothing now. For a refusal in the past: plimsoll why ", name,
                                  " --since 1h, or plimsoll get events -d ", name, "."));
    advice.push_back(
        "If calls are refused all the same, dependency_bulkhead_rejected_total of that "
        "process tells the reason: its queue, a deadline, its breaker, or draining.");
  }
  return advice;
}

std::string MeaningOf(const std::string& reason) {
  static const auto& meanings = *new std::map<std::string, std::string>{
      {"LATENCY_ROSE", "latency is above what the baseline tolerates"},
      {"LATENCY_FELL", "latency is within the tolerance and the limit was in use"},
      {"THROUGHPUT_GREW", "more calls in flight still brought more throughput"},
      {"THROUGHPUT_FLAT", "more calls in flight brought nothing"},
      {"ERRORS", "too many calls failed"},
      {"TIMEOUTS", "too many calls timed out"},
      {"UNDERUSED", "the limit was not used"},
      {"PROBE", "the algorithm tried something on purpose to learn"},
      {"FLOOR", "the floor cut the step short"},
      {"CEILING", "the ceiling cut the step short"},
      {"QUOTA_REBALANCED", "shares moved between instances"},
      {"QUOTA_CHANGED", "the quota or its policy was changed"},
      {"OVERRIDE_SET", "an operator set an override"},
      {"OVERRIDE_CLEARED", "an override was removed or ran out"},
      {"CONFIG_RELOADED", "settings were changed"},
      {"RESET", "an operator reset what the algorithm had learned"},
      {"FALLBACK_ENTERED", "a lease ran out without the controller"},
      {"FALLBACK_LEFT", "the controller is back"},
      {"INITIAL", "it is the first limit"},
  };
  const auto found = meanings.find(reason);
  return found == meanings.end() ? "" : found->second;
}

}  // namespace plimsoll::cli
