// The pool law in the core: when its epochs end, and what follows.
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "controller/src/allocation.h"
#include "controller/src/core_impl.h"

namespace plimsoll {

using internal::DependencyState;
using internal::KneeRunner;
using internal::LawDecision;

namespace {

WindowOutcome OutcomeOf(KneeOutcome outcome) {
  if (outcome == KneeOutcome::kTooFewSamples) return WindowOutcome::kTooFewSamples;
  if (outcome == KneeOutcome::kNotBinding) return WindowOutcome::kNotSaturated;
  return WindowOutcome::kUsed;
}

Calls Whole(double level) { return static_cast<Calls>(std::lround(level)); }

LawDecision Describe(const DependencyState& dependency) {
  const KneeDecision& knee = *dependency.knee->last_decision();
  LawDecision said;
  said.outcome = OutcomeOf(knee.outcome);
  said.before = Whole(knee.before);
  said.after = Whole(knee.after);
  said.reason = knee.reason;
  said.knee = knee;
  DecisionInputs& inputs = said.inputs;
  inputs.latency = knee.latency;
  inputs.baseline = knee.baseline;
  inputs.in_flight_max = dependency.last_window.in_flight_max;
  inputs.in_flight_mean = knee.in_flight;
  inputs.samples = knee.samples;
  inputs.failed = dependency.last_window.dropped;
  inputs.rejected = dependency.last_window.rejected_by(RejectReason::kLimit);
  inputs.length = dependency.last_epoch;
  inputs.throughput = knee.throughput;
  inputs.unclamped = knee.after;
  inputs.elasticity = knee.elasticity;
  if (knee.elasticity.has_value()) inputs.elasticity_error = knee.elasticity_error;
  if (knee.baseline > absl::ZeroDuration()) inputs.certified_baseline = knee.baseline;
  return said;
}

}  // namespace

void Core::Impl::AdvanceKnee(DependencyState& dependency) {
  const bool enforced =
      dependency.policy.mode == Mode::kEnforce && !learning_ && !dependency.pin.limit.has_value();
  const std::optional<Calls> before = dependency.PoolLimit();
  if (dependency.knee->Advance(dependency, now_, enforced) != KneeRunner::Step::kDecided) return;
  // Unless the level itself has moved.
  if (dependency.PoolLimit() != before) dependency.moved = Reason::kProbe;
  RecordDecision(dependency, nullptr, Describe(dependency));
}

// A reign before left its bounds, if nothing else.
void Core::Impl::ResumeKnees(const std::vector<Bound>& bounds) {
  std::map<DependencyId, std::vector<Calls>> granted;
  for (const Bound& bound : bounds) granted[bound.key.dependency].push_back(bound.steps.limit);
  for (auto& [name, calls] : granted) {
    const auto found = dependencies_.find(name);
    if (found == dependencies_.end() || found->second.knee == nullptr) continue;
    found->second.knee->Resume(std::move(calls));
  }
}

// The last report of an epoch has come: no need to wait for the next tick.
void Core::Impl::FinishKneeEpoch(DependencyState& dependency) {
  AdvanceKnee(dependency);
  internal::Allocate(dependency, sessions_, now_);
  ConsiderAll();
}

}  // namespace plimsoll
