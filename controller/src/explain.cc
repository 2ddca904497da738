#include "controller/src/explain.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "controller/src/explain_words.h"

namespace plimsoll::internal {
namespace {

std::string Signal(const DecisionInputs& inputs) {
  if (inputs.signal == LatencySignal::kMean) return "mean latency";
  const double percent = std::round(inputs.percentile * 1e4) / 1e2;
  // The last two figures decide in English, and 11 to 13 are exceptions.
  const auto whole = static_cast<int>(percent);
  const bool plain = percent == whole && whole / 10 != 1;
  const char* const ending = plain && whole % 10 == 1   ? "st"
                             : plain && whole % 10 == 2 ? "nd"
                             : plain && whole % 10 == 3 ? "rd"
                                                        : "th";
  return absl::StrFormat("%.4g%s percentile latency", percent, ending);
}

// "in 480 calls over 1 s, 480 a second, at 38 in flight".
std::string Sample(const DecisionInputs& inputs) {
  return absl::StrFormat("in %d calls over %s, %.3g a second, at %.3g in flight", inputs.samples,
                         Time(inputs.length), inputs.throughput, inputs.in_flight_mean);
}

std::string Factor(double factor) { return absl::StrFormat("%.2g", factor); }

std::string Tolerated(const AlgorithmConfig& config) {
  if (config.kind != AlgorithmKind::kGradient2) return "";
  return absl::StrCat(" (tolerated: ", Factor(config.gradient2.rtt_tolerance), ")");
}

// "90th percentile latency 212 ms is 2.1 times the baseline 101 ms (tolerated: 1.5)".
std::string Latency(const Policy& policy, const DecisionInputs& inputs) {
  const std::string latency = absl::StrCat(Signal(inputs), " ", Time(inputs.latency));
  if (inputs.baseline <= absl::ZeroDuration()) return absl::StrCat(latency, " was seen");
  return absl::StrCat(latency, " is ", Factor(absl::FDivDuration(inputs.latency, inputs.baseline)),
                      " times the baseline ", Time(inputs.baseline), Tolerated(policy.algorithm));
}

std::string Overload(const Policy& policy, const DecisionInputs& inputs) {
  const double share = inputs.samples == 0 ? 0
                                           : static_cast<double>(inputs.failed) /
                                                 static_cast<double>(inputs.samples);
  if (share > policy.window.drop_tolerance) {
    return absl::StrFormat("%d of %d calls (%s) were dropped by overload, tolerated are %s",
                           inputs.failed, inputs.samples, Percent(share),
                           Percent(policy.window.drop_tolerance));
  }
  if (inputs.latency > policy.window.latency_ceiling) {
    return absl::StrCat(Signal(inputs), " ", Time(inputs.latency), " is above the ceiling of ",
                        Time(policy.window.latency_ceiling));
  }
  return "the dependency failed by overload";
}

std::string TimedOut(const Policy& policy, const DecisionInputs& inputs) {
  const std::string latency = absl::StrCat(Signal(inputs), " ", Time(inputs.latency));
  if (policy.algorithm.kind == AlgorithmKind::kAimd) {
    return absl::StrCat(latency, " is above the threshold of ",
                        Time(policy.algorithm.aimd.latency_threshold));
  }
  return absl::StrCat(latency, " is longer than the law waits");
}

std::string Underused(const LawDecision& decision) {
  return absl::StrFormat("only %d of %d were in use at once", decision.inputs.in_flight_max,
                         decision.before);
}

// What was seen, and what the law made of it.
std::string Cause(const Policy& policy, const LawDecision& decision) {
  const DecisionInputs& inputs = decision.inputs;
  switch (decision.reason) {
    case Reason::kErrors:
      return Overload(policy, inputs);
    case Reason::kTimeouts:
      return TimedOut(policy, inputs);
    case Reason::kUnderused:
      return Underused(decision);
    default:
      return Latency(policy, inputs);
  }
}

// "the law wanted 3.2, and the floor of 5 binds", if a bound cut the step short.
std::string Bound(const Policy& policy, const LawDecision& decision) {
  if (decision.reason == Reason::kFloor) {
    return absl::StrFormat("the law wanted %.3g and the floor of %d binds; ",
                           decision.inputs.unclamped, policy.algorithm.floor);
  }
  if (decision.reason != Reason::kCeiling) return "";
  const bool quota = policy.scope == Scope::kFleet && policy.quota.has_value();
  return absl::StrFormat("the law wanted %.6g and the %s of %d binds; ", decision.inputs.unclamped,
                         quota ? "quota" : "ceiling",
                         quota ? *policy.quota : policy.algorithm.ceiling);
}

std::string Consequence(const LawDecision& decision) {
  const double before = std::max(1, decision.before);
  const double share = std::abs(decision.after - decision.before) / before;
  if (decision.after > decision.before) return absl::StrCat("raised by ", Percent(share), ".");
  if (decision.after < decision.before) return absl::StrCat("lowered by ", Percent(share), ".");
  return "held.";
}

std::string Subject(const Policy& policy, const InstanceId& instance) {
  if (instance.empty()) return policy.name.value;
  return absl::StrCat(policy.name.value, ", ", instance.value);
}

std::string TooFew(const Policy& policy, const LawDecision& decision) {
  const DecisionInputs& inputs = decision.inputs;
  if (inputs.samples >= policy.window.samples_min) {
    return absl::StrFormat("%d calls over %s tell no latency; held.", inputs.samples,
                           Time(inputs.length));
  }
  return absl::StrFormat("%d %s ended in %s, and a decision needs %d; held.", inputs.samples,
                         inputs.samples == 1 ? "call" : "calls", Time(inputs.length),
                         policy.window.samples_min);
}

// Sentences begin with a large letter.
std::string Capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  return text;
}

std::string Body(const Policy& policy, const LawDecision& decision) {
  if (decision.knee.has_value()) return ExplainKnee(policy, decision);
  if (decision.outcome != WindowOutcome::kUsed) return TooFew(policy, decision);
  if (decision.reason == Reason::kInitial && decision.before == decision.after) {
    return "the limit is fixed; held.";
  }
  return absl::StrCat(Cause(policy, decision), " ", Sample(decision.inputs), "; ",
                      Bound(policy, decision), Consequence(decision));
}

}  // namespace

std::string ExplainDecision(const Policy& policy, const InstanceId& instance,
                            const LawDecision& decision) {
  const std::string limit = decision.before == decision.after
                                ? absl::StrCat(decision.after)
                                : absl::StrCat(decision.before, " → ", decision.after);
  return absl::StrCat(Subject(policy, instance), ": ", limit, ". ", Capital(Body(policy, decision)),
                      policy.mode != Mode::kEnforce ? " Only observed: nothing is enforced." : "");
}

std::string ExplainShare(const ShareChange& change) {
  std::string sentence =
      absl::StrCat(change.instance.value, ": ", change.from, " → ", change.to, " (",
                   std::string(ToString(change.reason)), "), its share of ", change.capacity,
                   "; it could use ", change.wanted, ", all together ", change.wanted_all, ".");
  if (!change.decision.empty()) {
    absl::StrAppend(&sentence, " Decision ", change.decision, " says why.");
  }
  return sentence;
}

}  // namespace plimsoll::internal
