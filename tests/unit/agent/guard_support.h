#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "agent/src/guard_parts.h"
#include "agent/src/retry_budget_factory.h"
#include "plimsoll/agent/guard.h"
#include "tests/unit/agent/limiter_support.h"
#include "tests/unit/agent/manual_clock.h"

namespace plimsoll {

// A guard with a bulkhead whose time is a manual clock; pauses move it.
class GuardTest : public ::testing::Test {
 protected:
  GuardTest() { Limit(10); }

  void Limit(Calls limit, absl::Duration call_deadline = absl::InfiniteDuration()) {
    internal::StepFunction function = MakeFunction(++grants_, limit, clock_);
    function.call_deadline = call_deadline;
    limiter_->Install(function, clock_.Now());
  }

  // With generous retries, unless the options say otherwise.
  std::unique_ptr<Guard> Make(GuardOptions options = {}) {
    options.pause = [this](std::chrono::nanoseconds pause) {
      pauses_.push_back(pause);
      in_flight_in_pause_ = bulkhead_->in_flight();
      clock_.Advance(absl::FromChrono(pause));
      if (in_pause_) in_pause_();
    };
    return GuardFactory::Make(Layers(), std::move(options), clock_, Random(7));
  }
  GuardLayers Layers() {
    return {.breaker = breaker_.get(), .bulkhead = bulkhead_.get(), .retry_budget = budget_.get()};
  }

  // Opens after two failures in a row, for a second.
  void MakeBreaker() {
    BreakerOptions options;
    options.consecutive_failures = 2;
    options.cool_off_jitter = 0;
    breaker_ = std::move(Breaker::Make(options, {.clock = &clock_, .seed = 1})).value();
  }

  CallOptions Within(absl::Duration time) const {
    return {.deadline = Deadline::FromLeaseClock((clock_.Now() + time).ns), .idempotent = true};
  }

  // Calls until `ends` are used up; the last one repeats.
  auto Script(std::vector<AttemptEnd> ends) {
    return [this, ends = std::move(ends)](const Attempt& attempt) {
      EXPECT_EQ(attempt.number, ++seen_);
      in_flight_in_attempt_ = bulkhead_->in_flight();
      deadlines_.push_back(attempt.deadline);
      return ends[std::min(ends.size(), static_cast<std::size_t>(attempt.number)) - 1];
    };
  }

  ManualClock clock_{RealClock().Now()};
  internal::Limiter* limiter_ = internal::Limiter::Make(clock_);
  std::unique_ptr<Bulkhead> bulkhead_ = BulkheadFactory::Make("payments-api", limiter_);
  std::unique_ptr<Breaker> breaker_;
  std::unique_ptr<RetryBudget> budget_ =
      RetryBudgetFactory::Make({.ratio = 1, .min_per_second = 100}, clock_);
  std::int64_t grants_ = 0;

  int seen_ = 0;
  int in_flight_in_attempt_ = -1;
  int in_flight_in_pause_ = -1;
  std::vector<Deadline> deadlines_;
  std::vector<std::chrono::nanoseconds> pauses_;
  std::function<void()> in_pause_;
};

}  // namespace plimsoll
