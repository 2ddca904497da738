#include "agent/examples/demonstrations/cascade_dependency.h"

#include <algorithm>

#include "agent/examples/demonstrations/run_options.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::demonstrations {
namespace {

// It works off a burst of a tenth of a second's calls.
constexpr double kBurstSeconds = 0.1;

}  // namespace

Dependency::Dependency(const DependencyModel& model, std::uint64_t seed)
    : model_(model),
      random_(seed),
      tokens_(model.capacity * kBurstSeconds),
      filled_(RealClock().Now()) {}

Outcome Dependency::Call(absl::Duration timeout) {
  const Instant sent = RealClock().Now();
  const Fate fate = Decide(timeout);
  SleepUntil(sent + fate.after);
  return fate.outcome;
}

Dependency::Fate Dependency::Decide(absl::Duration timeout) {
  const MutexLock lock(mutex_);
  if (!TakeToken()) return {Outcome::kTimeout, timeout};
  const Outcome outcome = random_.Chance(model_.failures) ? Outcome::kError : Outcome::kSuccess;
  return {outcome, model_.fastest + random_.Uniform() * (model_.slowest - model_.fastest)};
}

bool Dependency::TakeToken() {
  const Instant now = RealClock().Now();
  tokens_ = std::min(model_.capacity * kBurstSeconds,
                     tokens_ + model_.capacity * absl::ToDoubleSeconds(now - filled_));
  filled_ = now;
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

}  // namespace plimsoll::demonstrations
