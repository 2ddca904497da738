#include "plimsoll/agent/guard.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/unit/agent/guard_support.h"
#include "tests/unit/agent/manual_timers.h"

namespace plimsoll {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr CallOptions kIdempotent = {.idempotent = true};

TEST_F(GuardTest, ASuccessIsOneAttemptWithItsValue) {
  auto guard = Make();
  const auto result = guard->Call([](const Attempt& attempt) {
    return std::pair(Outcome::kSuccess, std::to_string(attempt.number));
  });
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.value, "1");
  EXPECT_EQ(result.attempts, 1);
  EXPECT_EQ(bulkhead_->stats().succeeded, 1);
  EXPECT_EQ(budget_->stats().calls, 1);
}

TEST_F(GuardTest, ValuesNeedNeitherCopiesNorDefaults) {
  struct Reply {
    explicit Reply(int n) : number(std::make_unique<int>(n)) {}
    std::unique_ptr<int> number;
  };
  auto guard = Make();
  auto result =
      guard->Call([](const Attempt&) { return std::pair(AttemptEnd(Outcome::kError), Reply(3)); });
  EXPECT_FALSE(result.ok());
  EXPECT_FALSE(result.refused());
  EXPECT_EQ(*result.value->number, 3);
}

TEST_F(GuardTest, TriesAgainUntilItSucceeds) {
  auto guard = Make();
  const auto result = guard->Call(kIdempotent, Script({Outcome::kError, Outcome::kSuccess}));
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.attempts, 2);
  EXPECT_EQ(pauses_.size(), 1U);
  EXPECT_EQ(budget_->stats().retries, 1);
  EXPECT_EQ(budget_->stats().calls, 1);  // not two
}

TEST_F(GuardTest, StopsAtTheNumberOfAttempts) {
  auto guard = Make({.retry = {.attempts_max = 4}});
  const auto result = guard->Call(kIdempotent, Script({Outcome::kError}));
  EXPECT_EQ(result.attempts, 4);
  EXPECT_EQ(result.end, RetryEnd::kAttempts);
  EXPECT_EQ(result.outcome, Outcome::kError);
  EXPECT_FALSE(result.rejection.has_value());
}

TEST_F(GuardTest, WhatMayHaveTakenEffectIsNotTriedAgain) {
  auto guard = Make();
  const auto result = guard->Call(Script({Outcome::kError}));
  EXPECT_EQ(result.attempts, 1);
  EXPECT_EQ(result.end, RetryEnd::kOutcome);
}

TEST_F(GuardTest, TheBudgetStopsRetriesAndCountsIt) {
  budget_ = RetryBudgetFactory::Make({.ratio = 0.1, .min_per_second = 0}, clock_);
  auto guard = Make();
  int attempts = 0;
  for (int i = 0; i < 100; ++i) {
    seen_ = 0;
    const auto result = guard->Call(kIdempotent, Script({Outcome::kOverload}));
    attempts += result.attempts;
    EXPECT_TRUE(result.end == RetryEnd::kBudget || i >= 9);
  }
  EXPECT_LE(attempts, 110);
  EXPECT_GE(attempts, 105);
  EXPECT_GT(budget_->stats().denied, 80);
}

TEST_F(GuardTest, WithoutABudgetOfOthersItHasItsOwn) {
  budget_ = nullptr;
  auto guard = Make();
  int attempts = 0;
  for (int i = 0; i < 20; ++i) {
    seen_ = 0;
    attempts += guard->Call(kIdempotent, Script({Outcome::kOverload})).attempts;
  }
  EXPECT_GT(attempts, 20);
  EXPECT_LE(attempts, 20 + 10 + 2);  // the floor of 10 in 10 s and a tenth of the calls
}

TEST_F(GuardTest, GivesUpAtOnceIfRetryAfterLiesBeyondTheDeadline) {
  auto guard = Make();
  const auto result =
      guard->Call(Within(absl::Seconds(1)), Script({AttemptEnd(Outcome::kOverload, seconds(2))}));
  EXPECT_EQ(result.attempts, 1);
  EXPECT_EQ(result.end, RetryEnd::kDeadline);
  EXPECT_EQ(result.retry_after, seconds(2));
  EXPECT_TRUE(pauses_.empty());
  EXPECT_EQ(budget_->stats().retries, 0);
}

TEST_F(GuardTest, NeverComesBackEarlierThanItWasAsked) {
  auto guard = Make();
  static_cast<void>(
      guard->Call(Within(absl::Seconds(10)),
                  Script({AttemptEnd(Outcome::kOverload, seconds(2)), Outcome::kSuccess})));
  ASSERT_EQ(pauses_.size(), 1U);
  EXPECT_GE(pauses_[0], seconds(2));
}

TEST_F(GuardTest, APauseThatOutlastsTheDeadlineEndsTheCall) {
  auto guard = Make();
  in_pause_ = [this] { clock_.Advance(absl::Seconds(5)); };
  const auto result =
      guard->Call(Within(absl::Seconds(5)), Script({Outcome::kError, Outcome::kSuccess}));
  EXPECT_EQ(result.attempts, 1);
  EXPECT_EQ(result.end, RetryEnd::kDeadline);
  EXPECT_EQ(result.outcome, Outcome::kError);
  EXPECT_FALSE(result.rejection.has_value());
}

TEST_F(GuardTest, APassedDeadlineIsRefusedBeforeAnythingElse) {
  auto guard = Make();
  const auto result = guard->Call(Within(absl::ZeroDuration()), Script({Outcome::kSuccess}));
  EXPECT_TRUE(result.refused());
  EXPECT_EQ(result.rejection, Rejection::kDeadline);
  EXPECT_EQ(seen_, 0);
}

TEST_F(GuardTest, ARefusalIsNotTriedAgain) {
  Limit(0);
  auto guard = Make();
  const auto result = guard->Call(kIdempotent, Script({Outcome::kSuccess}));
  EXPECT_TRUE(result.refused());
  EXPECT_EQ(result.rejection, Rejection::kLimit);
  EXPECT_EQ(seen_, 0);
  EXPECT_TRUE(pauses_.empty());
  EXPECT_EQ(budget_->stats().calls, 0);
}

TEST_F(GuardTest, APermitCoversOneAttemptAndIsGivenBackForThePause) {
  auto guard = Make();
  static_cast<void>(guard->Call(kIdempotent, Script({Outcome::kOverload, Outcome::kSuccess})));
  EXPECT_EQ(in_flight_in_attempt_, 1);
  EXPECT_EQ(in_flight_in_pause_, 0);
  EXPECT_EQ(bulkhead_->stats().dropped, 1);  // not hidden by the success
  EXPECT_EQ(bulkhead_->stats().succeeded, 1);
}

TEST_F(GuardTest, ARetryThatTheLimitRefusesLeavesTheLastOutcome) {
  auto guard = Make();
  in_pause_ = [this] { Limit(0); };
  const auto result = guard->Call(kIdempotent, Script({Outcome::kError, Outcome::kSuccess}));
  EXPECT_EQ(result.attempts, 1);
  EXPECT_FALSE(result.refused());
  EXPECT_EQ(result.end, RetryEnd::kRefused);
  EXPECT_EQ(result.rejection, Rejection::kLimit);
  EXPECT_EQ(result.outcome, Outcome::kError);
}

TEST_F(GuardTest, APermitMayCoverTheWholeCall) {
  auto guard = Make({.permit_covers = PermitCovers::kCall});
  in_pause_ = [this] { Limit(0); };  // too late to refuse
  const auto result = guard->Call(kIdempotent, Script({Outcome::kOverload, Outcome::kSuccess}));
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(in_flight_in_pause_, 1);
  EXPECT_EQ(bulkhead_->in_flight(), 0);
  EXPECT_EQ(bulkhead_->stats().admitted, 1);
  EXPECT_EQ(bulkhead_->stats().succeeded, 1);
}

TEST_F(GuardTest, ThePausesOfAPermitThatCoversTheCallEndBeforeItsDeadline) {
  Limit(10, absl::Seconds(1));
  auto guard = Make({.permit_covers = PermitCovers::kCall});
  const auto result =
      guard->Call(kIdempotent, Script({AttemptEnd(Outcome::kOverload, seconds(2))}));
  EXPECT_EQ(result.end, RetryEnd::kDeadline);
  EXPECT_TRUE(pauses_.empty());
}

TEST_F(GuardTest, AnAttemptEndsWithTheEarliestOfAllDeadlines) {
  const Instant now = clock_.Now();
  const auto at = [&](int s) { return Deadline::FromLeaseClock((now + absl::Seconds(s)).ns); };
  const auto deadline_of = [&](int call, int scope, int permit, int attempt) {
    Limit(10, absl::Seconds(permit));
    const DeadlineScope outer(at(scope));
    auto guard = Make({.attempt_timeout = seconds(attempt)});
    Deadline seen;
    Deadline inherited;
    static_cast<void>(guard->Call({.deadline = at(call)}, [&](const Attempt& given) {
      seen = given.deadline;
      inherited = Deadline::Current();
      return Outcome::kSuccess;
    }));
    EXPECT_EQ(seen, inherited);
    return seen;
  };
  EXPECT_EQ(deadline_of(1, 9, 9, 9), at(1));
  EXPECT_EQ(deadline_of(9, 2, 9, 9), at(2));
  EXPECT_EQ(deadline_of(9, 9, 3, 9), at(3));
  EXPECT_EQ(deadline_of(9, 9, 9, 4), at(4));
}

TEST_F(GuardTest, EachAttemptHasItsOwnTimeout) {
  auto guard = Make({.attempt_timeout = seconds(1)});
  static_cast<void>(guard->Call(kIdempotent, Script({Outcome::kError})));
  ASSERT_EQ(deadlines_.size(), 3U);
  EXPECT_EQ(deadlines_[1].lease_clock_ns() - deadlines_[0].lease_clock_ns(), pauses_[0].count());
}

TEST_F(GuardTest, AnExceptionCountsAsAnErrorAndGoesOn) {
  auto guard = Make();
  EXPECT_THROW(
      static_cast<void>(guard->Call(
          kIdempotent, [](const Attempt&) -> Outcome { throw std::runtime_error("reset"); })),
      std::runtime_error);
  EXPECT_EQ(bulkhead_->in_flight(), 0);
  EXPECT_EQ(bulkhead_->stats().succeeded, 1);  // as kError: a sample that is no sign of load
  EXPECT_EQ(bulkhead_->stats().leaked, 0);
  EXPECT_TRUE(pauses_.empty());
  EXPECT_TRUE(Deadline::Current().never());
  EXPECT_EQ(RetryScope::Left(), RetryScope::kUnlimited);
}

TEST_F(GuardTest, NestedGuardsDoNotMultiplyTheirAttempts) {
  auto outer = Make({.retry = {.attempts_max = 3}});
  auto inner = Make({.retry = {.attempts_max = 3}});
  int calls = 0;
  static_cast<void>(outer->Call(kIdempotent, [&](const Attempt&) {
    return inner->Call(kIdempotent, [&](const Attempt&) { return ++calls, Outcome::kError; })
        .outcome;
  }));
  EXPECT_EQ(calls, 3);  // not 9
}

TEST_F(GuardTest, AnOuterGuardWithoutRetriesLeavesThemToTheInnerOne) {
  auto outer = Make({.retry = kNoRetries});
  auto inner = Make({.retry = {.attempts_max = 3}});
  int calls = 0;
  static_cast<void>(outer->Call(kIdempotent, [&](const Attempt&) {
    return inner->Call(kIdempotent, [&](const Attempt&) { return ++calls, Outcome::kError; })
        .outcome;
  }));
  EXPECT_EQ(calls, 3);
}

class GuardedByBreakerTest : public GuardTest {
 protected:
  GuardedByBreakerTest() {
    MakeBreaker();
    guard_ = Make({.retry = {.attempts_max = 3}});
  }

  GuardReport Call(std::vector<AttemptEnd> ends) {
    seen_ = 0;
    return guard_->Call(kIdempotent, Script(std::move(ends)));
  }
  void Open() { breaker_->Force(BreakerState::kOpen); }
  void EndCoolOff() { clock_.Advance(absl::Seconds(2)); }

  std::unique_ptr<Guard> guard_;
};

TEST_F(GuardedByBreakerTest, AnOpenBreakerCostsNeitherPermitNorBudgetAndSaysWhenToTryAgain) {
  Open();
  const GuardReport result = Call({Outcome::kSuccess});
  EXPECT_TRUE(result.refused());
  EXPECT_EQ(result.rejection, Rejection::kBreakerOpen);
  EXPECT_GE(result.retry_after, seconds(1));  // in steps of the breaker, not exactly
  EXPECT_LT(result.retry_after, milliseconds(1010));
  EXPECT_EQ(bulkhead_->stats().admitted, 0);
  EXPECT_EQ(budget_->stats().calls, 0);
}

TEST_F(GuardedByBreakerTest, SeesTheCallAsAWhole) {
  EXPECT_EQ(Call({Outcome::kError}).attempts, 3);
  EXPECT_EQ(breaker_->Snapshot().failures_in_a_row, 1);
  Call({Outcome::kError, Outcome::kSuccess});
  EXPECT_EQ(breaker_->Snapshot().failures_in_a_row, 0);
}

TEST_F(GuardedByBreakerTest, RefusalsOfThisSideAndOverloadAreNoFailures) {
  for (int i = 0; i < 10; ++i) Call({Outcome::kOverload});
  Limit(0);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Call({Outcome::kError}).rejection, Rejection::kLimit);
  EXPECT_EQ(breaker_->state(), BreakerState::kClosed);
  EXPECT_EQ(breaker_->Snapshot().failures_in_a_row, 0);
}

TEST_F(GuardedByBreakerTest, ARetryThatIsRefusedLeavesTheFailure) {
  in_pause_ = [this] { Limit(0); };
  Call({Outcome::kError});
  EXPECT_EQ(breaker_->Snapshot().failures_in_a_row, 1);
}

TEST_F(GuardedByBreakerTest, AProbeThatTheBulkheadRefusesGivesItsPlaceBack) {
  Open();
  EndCoolOff();
  Limit(0);
  EXPECT_EQ(Call({Outcome::kSuccess}).rejection, Rejection::kLimit);
  EXPECT_EQ(breaker_->state(), BreakerState::kHalfOpen);
  Limit(1);
  EXPECT_TRUE(Call({Outcome::kSuccess}).ok());
  EXPECT_EQ(breaker_->state(), BreakerState::kClosed);
}

TEST_F(GuardedByBreakerTest, AProbeIsOneAttempt) {
  Open();
  EndCoolOff();
  const GuardReport result = Call({Outcome::kError, Outcome::kSuccess});
  EXPECT_EQ(result.attempts, 1);
  EXPECT_EQ(result.end, RetryEnd::kAttempts);
  EXPECT_TRUE(pauses_.empty());  // the breaker is told at once
  EXPECT_EQ(breaker_->state(), BreakerState::kOpen);
}

TEST_F(GuardedByBreakerTest, RetriesEndWhenTheBreakerOpensMeanwhile) {
  in_pause_ = [this] { Open(); };
  const GuardReport result = Call({Outcome::kError, Outcome::kSuccess});
  EXPECT_EQ(result.attempts, 1);
  EXPECT_EQ(result.end, RetryEnd::kRefused);
  EXPECT_EQ(result.rejection, Rejection::kBreakerOpen);
  EXPECT_GT(result.retry_after, seconds(0));
}

// The breaker sees calls, not attempts: a retry of a call from before is no probe.
TEST_F(GuardedByBreakerTest, ARetryDoesNotTakeThePlaceOfTheProbe) {
  in_pause_ = [this] {
    Open();
    EndCoolOff();
  };
  const GuardReport result = Call({Outcome::kError, Outcome::kSuccess});
  EXPECT_EQ(result.attempts, 1);
  EXPECT_EQ(result.rejection, Rejection::kBreakerOpen);
  EXPECT_EQ(breaker_->TryEnter()->probe(), true);
}

TEST_F(GuardedByBreakerTest, AnExceptionIsAFailure) {
  const auto throws = [](const Attempt&) -> Outcome { throw std::runtime_error("reset"); };
  EXPECT_THROW(static_cast<void>(guard_->Call(throws)), std::runtime_error);
  EXPECT_EQ(breaker_->Snapshot().failures_in_a_row, 1);
}

TEST_F(GuardTest, WaitsForAPermitIfTheCallMayAndTheBulkheadHasAQueue) {
  ManualTimers timers;
  BulkheadOptions options;
  options.queue.capacity = 1;
  limiter_ = internal::Limiter::Make(clock_, options, &timers);
  bulkhead_ = BulkheadFactory::Make("payments-api", limiter_);
  Limit(1);
  auto guard = Make();
  Admission holder = bulkhead_->TryAcquire();
  ASSERT_TRUE(holder);
  GuardReport waited;
  const CallOptions patient = {.wait = seconds(1)};
  std::thread caller([&] { waited = guard->Call(patient, Script({Outcome::kSuccess})); });
  while (bulkhead_->stats().waiting == 0) std::this_thread::yield();
  EXPECT_EQ(guard->Call(Script({Outcome::kSuccess})).rejection, Rejection::kLimit);
  holder->Succeed();
  caller.join();
  EXPECT_TRUE(waited.ok());
  bulkhead_ = nullptr;  // before its timers
}

TEST_F(GuardTest, EveryLayerMayBeAbsent) {
  Guard bare({}, {.retry = kNoRetries});
  EXPECT_TRUE(bare.Call([](const Attempt&) { return Outcome::kSuccess; }).ok());
}

TEST_F(GuardTest, WithoutAPauseOfItsOwnItBlocksAsLongAsItMust) {
  Guard guard({}, {.retry = {.backoff_first = milliseconds(1), .backoff_max = milliseconds(1)}});
  std::vector<Instant> times;
  const auto result = guard.Call([&](const Attempt&) {
    times.push_back(RealClock().Now());
    return AttemptEnd(Outcome::kOverload, milliseconds(20));
  });
  ASSERT_EQ(result.attempts, 3);
  EXPECT_GE(times[1] - times[0], absl::Milliseconds(20));
  EXPECT_GE(times[2] - times[1], absl::Milliseconds(20));
}

TEST_F(GuardTest, StepByStepForThoseWhoDoNotBlock) {
  auto guard = Make();
  GuardedCall call(*guard, kIdempotent);
  ASSERT_TRUE(call.Begin());
  ASSERT_TRUE(call.End(AttemptEnd(Outcome::kOverload, milliseconds(5))));
  EXPECT_GE(call.pause(), milliseconds(5));
  ASSERT_TRUE(call.Begin());
  EXPECT_EQ(call.attempt().number, 2);
  EXPECT_FALSE(call.End(Outcome::kSuccess));
  EXPECT_TRUE(call.report().ok());
  EXPECT_FALSE(call.Begin());
}

TEST_F(GuardTest, AStepwiseCallThatIsForgottenCountsAsAnError) {
  auto guard = Make();
  {
    GuardedCall call(*guard, kIdempotent);
    ASSERT_TRUE(call.Begin());
  }
  EXPECT_EQ(bulkhead_->in_flight(), 0);
  EXPECT_EQ(bulkhead_->stats().succeeded, 1);
  EXPECT_EQ(bulkhead_->stats().leaked, 0);
}

TEST(GuardOptionsTest, NamesTheFault) {
  EXPECT_TRUE(Validate(GuardOptions()).ok());
  EXPECT_EQ(Validate(GuardOptions{.attempt_timeout = nanoseconds(-1)}).message(),
            "guard options: attempt_timeout is -1 ns: must be zero or more");
  EXPECT_FALSE(Validate(GuardOptions{.retry = {.attempts_max = 0}}).ok());
}

}  // namespace
}  // namespace plimsoll
