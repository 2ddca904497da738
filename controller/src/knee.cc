// The pool law in the core: when its epochs end, and what follows.
#include <utility>

#include "controller/src/allocation.h"
#include "controller/src/core_impl.h"

namespace plimsoll {

using internal::DependencyState;
using internal::KneeRunner;

void Core::Impl::AdvanceKnee(DependencyState& dependency) {
  if (dependency.knee->Advance(dependency, now_) != KneeRunner::Step::kDecided) return;
  const KneeDecision& decision = *dependency.knee->last_decision();
  const WindowOutcome outcome =
      decision.outcome == KneeOutcome::kTooFewSamples ? WindowOutcome::kTooFewSamples
      : decision.outcome == KneeOutcome::kNotBinding  ? WindowOutcome::kNotSaturated
                                                      : WindowOutcome::kUsed;
  ++dependency.windows_total[static_cast<std::size_t>(outcome)];
  dependency.moved = dependency.knee->reason();
}

// The last report of an epoch has come: no need to wait for the next tick.
void Core::Impl::FinishKneeEpoch(const DependencyId& name) {
  DependencyState& dependency = dependencies_.at(name);
  AdvanceKnee(dependency);
  internal::Allocate(dependency, sessions_, now_);
  ConsiderAll();
}

void Core::Impl::AddKneeInputs(const DependencyState& dependency, DecisionInputs& inputs) const {
  const std::optional<KneeDecision>& last = dependency.knee->last_decision();
  inputs.rejected = dependency.last_window.rejected_by(RejectReason::kLimit);
  inputs.in_flight_max = dependency.last_window.in_flight_max;
  if (!last.has_value()) return;
  inputs.latency = last->latency;
  inputs.baseline = last->baseline;
  inputs.samples = last->samples;
}

}  // namespace plimsoll
