#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "agent/src/retry_decision.h"
#include "agent/src/timer_thread.h"
#include "plimsoll/agent/guard.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/random.h"

namespace plimsoll {

// What a guard takes from its surroundings, and what it owns. Thread-safe.
struct Guard::Parts {
  // Without timers it uses those of the process, once it needs them.
  Parts(const Clock& its_clock, Random random, internal::Timers* its_timers)
      : clock(its_clock), seed(random.Next()), own_timers(its_timers) {}

  internal::Timers& timers() const {
    return own_timers != nullptr ? *own_timers : internal::SharedTimers();
  }

  std::chrono::nanoseconds PauseAfter(const RetryPolicy& policy, int number,
                                      const AttemptEnd& end) {
    Random random(seed.fetch_add(1, std::memory_order_relaxed));
    return internal::PauseAfter(policy, number, end, random);
  }

  const Clock& clock;
  std::unique_ptr<RetryBudget> own_budget;
  RetryBudget* budget = nullptr;    // null: never tries again
  std::atomic<std::uint64_t> seed;  // of a generator per pause, so that there is no lock
  internal::Timers* const own_timers;
};

// Makes guards whose time and chance are handed in.
class GuardFactory {
 public:
  // `clock` and `timers` must outlive the guard.
  static std::unique_ptr<Guard> Make(GuardLayers layers, GuardOptions options, const Clock& clock,
                                     Random random, internal::Timers* timers = nullptr) {
    return std::unique_ptr<Guard>(new Guard(layers, std::move(options),
                                            std::make_unique<Guard::Parts>(clock, random, timers)));
  }
};

}  // namespace plimsoll
