#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "agent/src/retry_decision.h"
#include "plimsoll/agent/guard.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/core/random.h"

namespace plimsoll {

// What a guard takes from its surroundings, and what it owns. Thread-safe.
struct Guard::Parts {
  Parts(const Clock& its_clock, Random its_random)
      : clock(its_clock), random(std::move(its_random)) {}

  std::chrono::nanoseconds PauseAfter(const RetryPolicy& policy, int number,
                                      const AttemptEnd& end) {
    const MutexLock lock(mutex);
    return internal::PauseAfter(policy, number, end, random);
  }

  const Clock& clock;
  std::unique_ptr<RetryBudget> own_budget;
  RetryBudget* budget = nullptr;  // null: never tries again
  Mutex mutex;
  Random random ABSL_GUARDED_BY(mutex);
};

// Makes guards whose time and chance are handed in.
class GuardFactory {
 public:
  // `clock` must outlive the guard.
  static std::unique_ptr<Guard> Make(GuardLayers layers, GuardOptions options, const Clock& clock,
                                     Random random) {
    return std::unique_ptr<Guard>(new Guard(
        layers, std::move(options), std::make_unique<Guard::Parts>(clock, std::move(random))));
  }
};

}  // namespace plimsoll
