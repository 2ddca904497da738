#include "agent/src/local_pilot.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "agent/src/limiter.h"

namespace plimsoll::internal {
namespace {

Calls Whole(double calls) {
  return static_cast<Calls>(std::clamp(std::floor(calls), 0.0, static_cast<double>(kCallsMax)));
}

}  // namespace

LocalPilot::LocalPilot(const AlgorithmConfig& config, LocalLaw law, absl::Duration call_deadline)
    : kind_(config.kind),
      floor_(config.floor),
      ceiling_(config.ceiling),
      call_deadline_(call_deadline),
      window_(law.window_length()),
      law_(std::move(law)),
      wanted_(config.initial) {}

void LocalPilot::Begin(Limiter& limiter, Instant now) {
  const MutexLock lock(mutex_);
  Install(limiter, Reason::kInitial, now);
  limiter.SetDue(now + window_);
}

void LocalPilot::SetByHand(Limiter& limiter, std::optional<Calls> limit, Instant now) {
  const MutexLock lock(mutex_);
  if (limit == by_hand_) return;
  by_hand_ = limit;
  Install(limiter, limit.has_value() ? Reason::kOverrideSet : Reason::kOverrideCleared, now);
  // What was seen so far belongs to another limit.
  static_cast<void>(limiter.Measure(now, absl::ZeroDuration()));
  law_.Forget();
  limiter.SetDue(now + window_);
}

void LocalPilot::Run(Limiter& limiter, Instant at) {
  if (!mutex_.TryLock()) return;
  // Another thread may have been faster, and be gone again.
  if (limiter.IsDue(at)) {
    limiter.SetDue(at + window_);
    CloseWindow(limiter, at);
  }
  mutex_.Unlock();
}

void LocalPilot::CloseWindow(Limiter& limiter, Instant at) {
  const Measurement measured = limiter.Measure(at, absl::ZeroDuration());
  if (by_hand_.has_value()) return;
  for (const Window& window : measured.windows) {
    const std::optional<Decision> decision = law_.Add(window, at);
    if (!decision.has_value()) continue;
    wanted_ = Whole(decision->unclamped);
    Install(limiter, decision->reason, at);
  }
}

// Without a lease there are no steps: what is in force stays.
void LocalPilot::Install(Limiter& limiter, Reason reason, Instant at) {
  const Calls limit = by_hand_.value_or(law_.limit());
  StepFunction function;
  function.stamp = {Epoch(1), Seq(++seq_)};
  function.steps = {limit, limit, limit};
  function.limit_end = kInfiniteFuture;
  function.base_end = kInfiniteFuture;
  function.call_deadline = call_deadline_;
  function.explanation.algorithm_limit = wanted_;
  function.explanation.floor = floor_;
  function.explanation.ceiling = ceiling_;
  function.explanation.binding = Binding();
  function.explanation.reason = reason;
  limiter.Install(function, at);
}

BindingConstraint LocalPilot::Binding() const {
  if (by_hand_.has_value()) return BindingConstraint::kOverride;
  if (kind_ == AlgorithmKind::kFixed) return BindingConstraint::kAlgorithm;
  if (wanted_ >= ceiling_) return BindingConstraint::kCeiling;
  if (wanted_ <= floor_) return BindingConstraint::kFloor;
  return BindingConstraint::kAlgorithm;
}

}  // namespace plimsoll::internal
