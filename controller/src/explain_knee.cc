// The sentences of the pool law.
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "controller/src/explain.h"
#include "controller/src/explain_words.h"

namespace plimsoll::internal {
namespace {

// "3260 calls in 510 ms at 84.2 in flight took 13.4 ms each, 9.8 ms without a queue".
std::string Measured(const LawDecision& decision) {
  const KneeDecision& knee = *decision.knee;
  std::string text =
      absl::StrFormat("%d calls in %s at %.3g in flight took %s each", knee.samples,
                      Time(decision.inputs.length), knee.in_flight, Time(knee.latency));
  if (knee.baseline > absl::ZeroDuration()) {
    absl::StrAppend(&text, ", ", Time(knee.baseline), " without a queue");
  }
  return text;
}

std::string Elasticity(const Policy& policy, const KneeDecision& knee) {
  if (!knee.elasticity.has_value()) return "";
  return absl::StrFormat(
      "1 %% more in flight brings %.2f ± %.2f %% more throughput (wanted: %.2f); ",
      *knee.elasticity, knee.elasticity_error, policy.algorithm.fleet_knee.theta);
}

std::string Moved(const KneeDecision& knee) {
  const double share = knee.before > 0 ? std::abs(knee.after - knee.before) / knee.before : 0;
  if (knee.after > knee.before) return absl::StrCat("raised by ", Percent(share));
  if (knee.after < knee.before) return absl::StrCat("lowered by ", Percent(share));
  return "held";
}

std::string Because(const Policy& policy, const LawDecision& decision) {
  const KneeDecision& knee = *decision.knee;
  switch (knee.outcome) {
    case KneeOutcome::kRaised:
    case KneeOutcome::kLowered:
      return absl::StrCat(Elasticity(policy, knee), Moved(knee));
    case KneeOutcome::kHeld:
      return absl::StrCat(Elasticity(policy, knee), "held, the knee is here");
    case KneeOutcome::kUndecided:
      return "held, still measuring";
    case KneeOutcome::kAtCap:
      return absl::StrCat(Elasticity(policy, knee), "held at the ",
                          policy.quota.has_value() ? "quota" : "ceiling");
    case KneeOutcome::kChanged:
      return "latency changed by itself: held, what was learnt is measured anew";
    case KneeOutcome::kNotBinding:
      return absl::StrCat("only ", Percent(knee.saturated_share),
                          " meet their limit: held, it does not bind");
    case KneeOutcome::kTooFewSamples:
      return "held, that is too few to tell";
    case KneeOutcome::kBraked:
      return absl::StrCat(Percent(knee.failed_share),
                          " of the calls failed by overload (tolerated: ",
                          Percent(policy.window.drop_tolerance), "): ", Moved(knee));
    case KneeOutcome::kObserving:
      return policy.mode != Mode::kEnforce
                 ? "held: limits are not enforced, so moving them would show nothing"
                 : "held: nothing is raised while the controller learns what was granted before";
    case KneeOutcome::kAboveTarget:
      return absl::StrCat("the latency is above its target of ",
                          Time(policy.algorithm.fleet_knee.latency_target), ": ", Moved(knee));
  }
  return "held";
}

}  // namespace

std::string ExplainKnee(const Policy& policy, const LawDecision& decision) {
  return absl::StrCat(Because(policy, decision), "; ", Measured(decision), ".");
}

}  // namespace plimsoll::internal
