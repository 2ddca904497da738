#include "agent/src/limiter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "plimsoll/core/random.h"
#include "tests/unit/agent/limiter_support.h"
#include "tests/unit/agent/manual_clock.h"

namespace plimsoll::internal {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(1);

class LimiterTest : public ::testing::Test {
 protected:
  void Grant(std::int64_t seq, Calls limit) {
    limiter_->Install(MakeFunction(seq, limit, clock_), clock_.Now());
  }
  Measurement Measure() { return limiter_->Measure(clock_.Now(), kInterval); }
  // Acquires `count` permits, all of which must be granted.
  std::vector<Permit> Hold(int count) {
    std::vector<Permit> permits;
    for (int i = 0; i < count; ++i) {
      Admission admission = limiter_->TryAcquire();
      EXPECT_TRUE(admission.has_value()) << "permit " << i << " of " << count;
      if (admission) permits.push_back(*std::move(admission));
    }
    return permits;
  }
  std::optional<Rejection> RejectionNow() {
    Admission admission = limiter_->TryAcquire();
    if (!admission) return admission.rejection();
    admission->Ignore();
    return std::nullopt;
  }

  ManualClock clock_;
  LimiterPtr limiter_ = MakeLimiter(clock_);
};

TEST_F(LimiterTest, AdmitsNothingBeforeTheFirstGrant) {
  EXPECT_EQ(RejectionNow(), Rejection::kLimit);
  EXPECT_FALSE(limiter_->granted());
}

TEST_F(LimiterTest, AdmitsAsManyAsTheLimitAndOneMoreWhenOneHasEnded) {
  Grant(1, 3);
  std::vector<Permit> permits = Hold(3);
  EXPECT_EQ(RejectionNow(), Rejection::kLimit);
  permits[1].Succeed();
  EXPECT_EQ(RejectionNow(), std::nullopt);
}

TEST_F(LimiterTest, StepsDownWhenALeaseEndsAndAgainWhenTheBaseLeaseEnds) {
  const Instant start = clock_.Now();
  limiter_->Install(
      MakeFunction(1, {3, 2, 1}, start + absl::Seconds(10), start + absl::Minutes(10)), start);
  EXPECT_EQ(limiter_->limit(), 3);
  clock_.Advance(absl::Seconds(10));
  EXPECT_EQ(limiter_->limit(), 2);
  std::vector<Permit> permits = Hold(2);
  EXPECT_EQ(RejectionNow(), Rejection::kLimit);
  permits.pop_back();
  clock_.Advance(absl::Minutes(10));
  EXPECT_EQ(limiter_->limit(), 1);
  EXPECT_EQ(RejectionNow(), Rejection::kLimit);
}

TEST_F(LimiterTest, SaysWhichStepIsInForceAndCountsThoseThatEnded) {
  EXPECT_EQ(limiter_->stage(), GrantStage::kNone);
  const Instant start = clock_.Now();
  limiter_->Install(
      MakeFunction(1, {3, 2, 1}, start + absl::Seconds(10), start + absl::Minutes(10)), start);
  EXPECT_EQ(limiter_->stage(), GrantStage::kLease);
  for (const GrantStage stage : {GrantStage::kBase, GrantStage::kReserve}) {
    clock_.Advance(absl::Minutes(stage == GrantStage::kBase ? 1 : 10));
    limiter_->Measure(clock_.Now(), absl::Hours(1));
    EXPECT_EQ(limiter_->Stats().stage, stage);
  }
  EXPECT_EQ(limiter_->Stats().stepped_down, 2);
  limiter_->Install(StepFunction{}, clock_.Now());
  EXPECT_EQ(limiter_->stage(), GrantStage::kNone);
}

TEST_F(LimiterTest, ALoweredLimitLeavesRunningCallsAloneAndAdmitsNoneUntilTheyAreFewer) {
  Grant(1, 3);
  std::vector<Permit> permits = Hold(3);
  Grant(2, 1);
  EXPECT_EQ(Measure().in_flight, 3);
  permits.pop_back();
  permits.pop_back();
  EXPECT_EQ(RejectionNow(), Rejection::kLimit);
  permits.pop_back();
  EXPECT_EQ(RejectionNow(), std::nullopt);
}

TEST_F(LimiterTest, ATakenBackGrantAdmitsNothing) {
  Grant(1, 3);
  EXPECT_TRUE(limiter_->granted());
  limiter_->Install(StepFunction{}, clock_.Now());
  EXPECT_EQ(RejectionNow(), Rejection::kLimit);
  EXPECT_FALSE(limiter_->granted());
}

TEST_F(LimiterTest, StopAdmittingIsForEverAndSaysSo) {
  Grant(1, 3);
  limiter_->StopAdmitting();
  EXPECT_EQ(RejectionNow(), Rejection::kDraining);
  Grant(2, 5);
  EXPECT_EQ(RejectionNow(), Rejection::kDraining);
  EXPECT_EQ(limiter_->Stats().rejected_draining, 2);
}

TEST_F(LimiterTest, ObservingAdmitsEveryCallAndCountsThoseAboveTheLimit) {
  Grant(1, 2);
  limiter_->SetObserve(true);
  const std::vector<Permit> permits = Hold(5);
  const BulkheadStats stats = limiter_->Stats();
  EXPECT_TRUE(stats.observing);
  EXPECT_EQ(stats.limit, 2);
  EXPECT_EQ(stats.in_flight, 5);
  EXPECT_EQ(stats.admitted, 5);
  EXPECT_EQ(stats.would_reject, 3);
  EXPECT_EQ(stats.rejected_limit, 0);
}

TEST_F(LimiterTest, AWindowSaysWhatWasObservedAboveTheLimit) {
  Grant(1, 2);
  limiter_->SetObserve(true);
  const std::vector<Permit> permits = Hold(5);
  clock_.Advance(absl::Seconds(1));
  const Measurement measured = Measure();
  EXPECT_EQ(measured.in_flight, 5);
  ASSERT_EQ(measured.windows.size(), 1u);
  EXPECT_EQ(measured.windows[0].admitted, 5);
  EXPECT_EQ(measured.windows[0].rejected_by(RejectReason::kLimit), 3);
  EXPECT_EQ(measured.windows[0].in_flight_max, 5);
}

TEST_F(LimiterTest, ObservingGoesOnWhenNothingIsInForceAnyMore) {
  const Instant start = clock_.Now();
  limiter_->Install(
      MakeFunction(1, {3, 2, 0}, start + absl::Seconds(10), start + absl::Minutes(10)), start);
  limiter_->SetObserve(true);
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(limiter_->limit(), 0);
  EXPECT_EQ(limiter_->stage(), GrantStage::kReserve);
  EXPECT_EQ(RejectionNow(), std::nullopt);
  limiter_->Install(StepFunction{}, clock_.Now());
  EXPECT_EQ(RejectionNow(), std::nullopt);
  EXPECT_EQ(limiter_->Stats().would_reject, 2);
}

TEST_F(LimiterTest, WhenItIsEnforcedAgainRunningCallsStayAndNoneIsAdmittedAboveTheLimit) {
  Grant(1, 2);
  limiter_->SetObserve(true);
  std::vector<Permit> permits = Hold(4);
  limiter_->SetObserve(false);
  EXPECT_EQ(Measure().in_flight, 4);
  EXPECT_EQ(RejectionNow(), Rejection::kLimit);
  permits.clear();
  EXPECT_EQ(RejectionNow(), std::nullopt);
  EXPECT_FALSE(limiter_->Stats().observing);
  EXPECT_EQ(limiter_->Stats().would_reject, 2);
  EXPECT_EQ(limiter_->Stats().rejected_limit, 1);
}

TEST_F(LimiterTest, WhoLeavesAdmitsNothingEvenWhenObserving) {
  Grant(1, 2);
  limiter_->SetObserve(true);
  limiter_->StopAdmitting();
  EXPECT_EQ(RejectionNow(), Rejection::kDraining);
}

TEST_F(LimiterTest, TheCallDeadlineIsThatOfTheAdmission) {
  StepFunction function = MakeFunction(1, 3, clock_);
  function.call_deadline = absl::Seconds(2);
  limiter_->Install(function, clock_.Now());
  std::vector<Permit> permits = Hold(1);
  function.stamp.seq = Seq(2);
  function.call_deadline = absl::Seconds(30);
  limiter_->Install(function, clock_.Now());
  clock_.Advance(absl::Milliseconds(500));
  EXPECT_EQ(permits[0].time_left(), std::chrono::milliseconds(1500));
  clock_.Advance(absl::Milliseconds(1501));
  permits[0].Succeed();
  EXPECT_EQ(limiter_->Stats().overran, 1);
}

TEST_F(LimiterTest, AWindowIsCutAtEveryGrantAndStampedWithTheOneBeforeIt) {
  Grant(1, 3);
  Measure();
  std::vector<Permit> permits = Hold(2);
  clock_.Advance(absl::Milliseconds(100));
  permits[0].Succeed();
  Grant(2, 2);
  clock_.Advance(absl::Milliseconds(50));
  permits[1].Drop();
  Grant(3, 2);

  const std::vector<Window> windows = Measure().windows;
  ASSERT_EQ(windows.size(), 2);
  EXPECT_EQ(windows[0].stamp, (GrantStamp{Epoch(1), Seq(1)}));
  EXPECT_EQ(windows[0].length, absl::Milliseconds(100));
  EXPECT_EQ(windows[0].admitted, 2);
  EXPECT_EQ(windows[0].succeeded, 1);
  EXPECT_EQ(windows[0].in_flight_max, 2);
  EXPECT_EQ(windows[1].stamp, (GrantStamp{Epoch(1), Seq(2)}));
  EXPECT_EQ(windows[1].length, absl::Milliseconds(50));
  EXPECT_EQ(windows[1].admitted, 0);
  EXPECT_EQ(windows[1].dropped, 1);
  EXPECT_EQ(windows[1].in_flight_max, 1);
}

TEST_F(LimiterTest, AWindowIsCutWhenTheIntervalIsOverAndNotBefore) {
  Grant(1, 3);
  Measure();
  clock_.Advance(kInterval - absl::Nanoseconds(1));
  EXPECT_TRUE(Measure().windows.empty());
  clock_.Advance(absl::Nanoseconds(1));
  ASSERT_EQ(Measure().windows.size(), 1);
  EXPECT_TRUE(Measure().windows.empty());
}

TEST_F(LimiterTest, AWindowIsCutWhenAStepHasEnded) {
  const Instant start = clock_.Now();
  limiter_->Install(
      MakeFunction(1, {3, 2, 1}, start + absl::Milliseconds(10), start + absl::Milliseconds(20)),
      start);
  Measure();
  int cuts = 0;
  for (int i = 0; i < 5; ++i) {
    clock_.Advance(absl::Milliseconds(10));
    cuts += static_cast<int>(Measure().windows.size());
  }
  EXPECT_EQ(cuts, 2);
}

TEST_F(LimiterTest, ThePeakIsThatSinceTheLastMeasurement) {
  Grant(1, 5);
  { const std::vector<Permit> permits = Hold(4); }
  const std::vector<Permit> permits = Hold(1);
  EXPECT_EQ(Measure().in_flight_max, 4);
  EXPECT_EQ(Measure().in_flight_max, 1);
}

TEST_F(LimiterTest, CallsThatOutliveAWindowAreInThePeakOfTheNext) {
  Grant(1, 5);
  const std::vector<Permit> permits = Hold(4);
  clock_.Advance(kInterval);
  Measure();
  clock_.Advance(kInterval);
  const Measurement measured = Measure();
  ASSERT_EQ(measured.windows.size(), 1);
  EXPECT_EQ(measured.windows[0].in_flight_max, 4);
}

TEST_F(LimiterTest, WindowsThatNobodyFetchesAreBounded) {
  for (int i = 0; i < 1000; ++i) {
    clock_.Advance(absl::Milliseconds(1));
    Grant(i + 1, 1);
  }
  const std::vector<Window> windows = Measure().windows;
  EXPECT_EQ(windows.size(), 64);
  EXPECT_EQ(windows.back().stamp.seq, Seq(999));
}

TEST_F(LimiterTest, PermitsThatOutliveTheOwnerEndSafely) {
  Grant(1, 3);
  std::vector<Permit> permits = Hold(3);
  limiter_.reset();
  permits[0].Succeed();
  permits[1].Drop();
  EXPECT_GT(permits[2].time_left(), std::chrono::nanoseconds::zero());
}

TEST_F(LimiterTest, TheStatsCountEverything) {
  Grant(1, 4);
  std::vector<Permit> permits = Hold(4);
  RejectionNow();
  permits[0].Succeed();
  permits[1].Drop();
  permits[2].Ignore();
  { const Permit forgotten = std::move(permits[3]); }
  const std::vector<Permit> running = Hold(1);
  const BulkheadStats stats = limiter_->Stats();
  EXPECT_EQ(stats.limit, 4);
  EXPECT_EQ(stats.in_flight, 1);
  EXPECT_EQ(stats.admitted, 5);
  EXPECT_EQ(stats.succeeded, 1);
  EXPECT_EQ(stats.dropped, 1);
  EXPECT_EQ(stats.ignored, 2);
  EXPECT_EQ(stats.leaked, 1);
  EXPECT_EQ(stats.overran, 0);
  EXPECT_EQ(stats.rejected_limit, 1);
}

// Lets something happen right after a caller has read the time, and before it is counted.
class InterruptedClock final : public Clock {
 public:
  Instant Now() const override {
    const Instant now = clock_.Now();
    if (meanwhile_) std::exchange(meanwhile_, nullptr)();
    return now;
  }
  absl::Time WallTime() const override { return clock_.WallTime(); }

  void AfterNextReading(std::function<void()> meanwhile) { meanwhile_ = std::move(meanwhile); }
  void Advance(absl::Duration by) { clock_.Advance(by); }

 private:
  ManualClock clock_;
  mutable std::function<void()> meanwhile_;
};

TEST(LimiterHeldUpTest, ACallerIsBoundByAGrantThatCameAfterItReadTheTime) {
  InterruptedClock clock;
  const LimiterPtr limiter = MakeLimiter(clock);
  limiter->Install(MakeFunction(1, 3, clock), clock.Now());
  Calls acknowledged = -1;
  clock.AfterNextReading([&] {
    limiter->Install(MakeFunction(2, 0, clock), clock.Now());
    acknowledged = limiter->Measure(clock.Now(), kInterval).in_flight;
  });
  const Admission admission = limiter->TryAcquire();
  EXPECT_EQ(acknowledged, 0);
  EXPECT_FALSE(admission);
}

TEST(LimiterHeldUpTest, ACallerIsBoundByTheMeasurementOfAStepThatEndedAfterItReadTheTime) {
  InterruptedClock clock;
  const LimiterPtr limiter = MakeLimiter(clock);
  const Instant end = clock.Now() + absl::Seconds(1);
  limiter->Install(MakeFunction(1, {3, 0, 0}, end, end), clock.Now());
  Calls acknowledged = -1;
  clock.AfterNextReading([&] {
    clock.Advance(absl::Seconds(1));
    acknowledged = limiter->Measure(clock.Now(), kInterval).in_flight;
  });
  const Admission admission = limiter->TryAcquire();
  EXPECT_EQ(acknowledged, 0);
  EXPECT_FALSE(admission);
}

TEST(GrowthTest, WhatWasReadTooHighIsLeftOutLater) {
  Growth growth;
  EXPECT_EQ(growth.Advance(5), 5);
  EXPECT_EQ(growth.Advance(3), 0);
  EXPECT_EQ(growth.Advance(5), 0);
  EXPECT_EQ(growth.Advance(6), 1);
}

// Three classes, whose shares are told to the model as hundredths.
BulkheadOptions ThreeClasses() {
  BulkheadOptions options;
  options.classes = {{"first", 1.0}, {"second", 0.6}, {"third", 0.29}};
  return options;
}
constexpr int kHundredths[] = {100, 60, 29};

// A bulkhead that remembers every call and every limit.
class ModelBulkhead {
 public:
  struct Call {
    Instant entered;
    Calls cost;
  };

  explicit ModelBulkhead(Instant start) : last_(start) { window_.length = absl::ZeroDuration(); }

  void MoveTo(Instant now) {
    const std::int64_t units = (now.ns >> kUnitLog2) - (last_.ns >> kUnitLog2);
    window_.in_flight += FromUnits(units * calls());
    window_.length += now - last_;
    if (calls() > 0 && (calls() >= limit_ || no_room_)) window_.at_limit += now - last_;
    last_ = now;
  }
  bool TryEnter(Calls cost, int priority) {
    const Calls most = limit_ == 0 ? 0 : std::max<Calls>(1, limit_ * kHundredths[priority] / 100);
    if (calls() + cost > most) {
      window_.rejected[static_cast<std::size_t>(RejectReason::kLimit)] += cost;
      // A costly call that does not fit means that the limit was reached, until a call ends.
      no_room_ = no_room_ || (cost > 1 && priority == 0 && calls() > 0);
      return false;
    }
    entered_.push_back({last_, cost});
    window_.admitted += cost;
    window_.in_flight_max = std::max(window_.in_flight_max, calls());
    return true;
  }
  void Leave(std::size_t which, Outcome outcome) {
    const Call call = entered_[which];
    entered_.erase(entered_.begin() + static_cast<std::ptrdiff_t>(which));
    no_room_ = false;
    if (outcome == Outcome::kCancelled || outcome == Outcome::kIgnored) {
      window_.ignored += call.cost;
      return;
    }
    const bool dropped = outcome == Outcome::kOverload || outcome == Outcome::kTimeout;
    (dropped ? window_.dropped : window_.succeeded) += call.cost;
    for (Calls unit = 0; unit < call.cost; ++unit) window_.latency.Record(last_ - call.entered);
  }
  Window Cut(std::int64_t seq) {
    window_.stamp = seq == 0 ? GrantStamp() : GrantStamp{Epoch(1), Seq(seq)};
    Window cut = std::exchange(window_, Window());
    window_.length = absl::ZeroDuration();
    window_.in_flight_max = calls();
    return cut;
  }
  void Grant(Calls limit) {
    limit_ = limit;
    no_room_ = false;
  }
  Calls calls() const {
    Calls sum = 0;
    for (const Call& call : entered_) sum += call.cost;
    return sum;
  }

 private:
  Instant last_;
  Calls limit_ = 0;
  bool no_room_ = false;
  std::deque<Call> entered_;
  Window window_;
};

// The limiter and the model side by side.
class ModelRun {
 public:
  explicit ModelRun(std::uint64_t seed)
      : random_(seed),
        clock_(Instant{static_cast<std::int64_t>(random_.Below(std::uint64_t{1} << 54))}),
        limiter_(MakeLimiter(clock_, ThreeClasses())),
        model_(clock_.Now()) {}

  void Step() {
    clock_.Advance(absl::Nanoseconds(1 + random_.Below(2'000'000)));
    model_.MoveTo(clock_.Now());
    const double choice = random_.Uniform();
    if (choice < 0.5) {
      Enter();
    } else if (choice < 0.9 && !permits_.empty()) {
      Leave();
    } else if (choice > 0.98) {
      const auto limit = static_cast<Calls>(random_.Below(12));
      const Window expected = model_.Cut(seq_);
      limiter_->Install(MakeFunction(++seq_, limit, clock_), clock_.Now());
      model_.Grant(limit);
      ExpectWindow(expected);
    } else if (choice > 0.96) {
      ExpectWindow(model_.Cut(seq_));
    }
  }

 private:
  // Every other plain call goes the short way, which must lead to the same place.
  void Enter() {
    CallOptions options;
    options.cost = random_.Chance(0.3) ? 2 + static_cast<int>(random_.Below(3)) : 1;
    options.priority = random_.Chance(0.4) ? static_cast<int>(random_.Below(3)) : 0;
    const bool plain = options.cost == 1 && options.priority == 0 && random_.Chance(0.5);
    Admission admission = plain ? limiter_->TryAcquire() : limiter_->TryAcquire(options);
    ASSERT_EQ(admission.has_value(), model_.TryEnter(options.cost, options.priority));
    if (!admission) return;
    ASSERT_EQ(admission->cost(), options.cost);
    permits_.push_back(*std::move(admission));
  }
  void Leave() {
    const std::size_t which = random_.Below(permits_.size());
    const auto outcome = static_cast<Outcome>(random_.Below(kOutcomes));
    permits_[which].Finish(outcome);
    permits_.erase(permits_.begin() + static_cast<std::ptrdiff_t>(which));
    model_.Leave(which, outcome);
  }
  void ExpectWindow(const Window& expected) {
    const Measurement measured = limiter_->Measure(clock_.Now(), absl::ZeroDuration());
    ASSERT_EQ(measured.windows.size(), 1);
    ASSERT_EQ(measured.windows[0], expected);
    ASSERT_EQ(measured.in_flight, model_.calls());
  }

  Random random_;
  ManualClock clock_;
  LimiterPtr limiter_;
  ModelBulkhead model_;
  std::deque<Permit> permits_;
  std::int64_t seq_ = 0;
};

TEST(LimiterModelTest, EveryWindowIsThatOfABulkheadThatRemembersEveryCall) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    ModelRun run(seed);
    for (int step = 0; step < 1500 && !::testing::Test::HasFatalFailure(); ++step) run.Step();
  }
}

// The rest runs with real threads; nothing in it depends on how fast they are.

constexpr int kThreads = 4;

// What the threads themselves count.
struct Tally {
  std::atomic<std::int64_t> admitted{0};
  std::atomic<std::int64_t> succeeded{0};
  std::atomic<std::int64_t> dropped{0};
  std::atomic<std::int64_t> ignored{0};
  std::atomic<std::int64_t> rejected{0};
  std::atomic<int> held{0};
  std::atomic<int> held_max{0};

  void Took() {
    ++admitted;
    const int now = ++held;
    int seen = held_max.load();
    while (now > seen && !held_max.compare_exchange_weak(seen, now)) {
    }
  }
};

void Hammer(Limiter& limiter, Tally& tally, std::uint64_t seed, int calls) {
  Random random(seed);
  std::deque<Permit> permits;
  for (int i = 0; i < calls; ++i) {
    Admission admission = limiter.TryAcquire();
    if (admission) {
      tally.Took();
      permits.push_back(*std::move(admission));
    } else {
      ++tally.rejected;
    }
    while (!permits.empty() && (!admission || random.Chance(0.6))) {
      --tally.held;
      const std::uint64_t ending = random.Below(3);
      if (ending == 0) ++tally.succeeded, permits.front().Succeed();
      if (ending == 1) ++tally.dropped, permits.front().Drop();
      if (ending == 2) ++tally.ignored, permits.front().Ignore();
      permits.pop_front();
      if (!admission) break;
    }
  }
  for (Permit& permit : permits) {
    --tally.held;
    ++tally.ignored;
    permit.Ignore();
  }
}

struct Sums {
  Window total;
  std::int64_t latencies = 0;

  void Add(const Measurement& measured) {
    for (const Window& window : measured.windows) {
      total.admitted += window.admitted;
      total.succeeded += window.succeeded;
      total.dropped += window.dropped;
      total.ignored += window.ignored;
      total.rejected[0] += window.rejected[0];
      latencies += static_cast<std::int64_t>(window.latency.TotalCount());
    }
  }
};

// While windows are cut, a reading may count a call twice that is just ending, and leaves it out of
// a later one. These calls see to it that there is a later one.
void MakeUpForReadings(Limiter& limiter, Tally& tally, int calls) {
  for (int i = 0; i < calls; ++i) {
    Admission admission = limiter.TryAcquire();
    ASSERT_TRUE(admission.has_value());
    ++tally.admitted;
    ++tally.ignored;
    admission->Ignore();
  }
}

TEST(LimiterThreadsTest, NoCountIsLostAndNoLimitExceededWhileWindowsAreCutAndGrantsInstalled) {
  constexpr Calls kLimitMax = 7;
  const Clock& clock = RealClock();
  const LimiterPtr limiter = MakeLimiter(clock);
  Tally tally;
  Sums sums;
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      Hammer(*limiter, tally, static_cast<std::uint64_t>(i) + 1, 30'000);
      --running;
    });
  }
  Random random(99);
  std::int64_t seq = 0;
  while (running > 0) {
    const auto limit = static_cast<Calls>(random.Below(kLimitMax + 1));
    limiter->Install(MakeFunction(++seq, limit, clock), clock.Now());
    sums.Add(limiter->Measure(clock.Now(), absl::ZeroDuration()));
  }
  for (std::thread& thread : threads) thread.join();
  limiter->Install(MakeFunction(++seq, kLimitMax, clock), clock.Now());
  MakeUpForReadings(*limiter, tally, 2 * kThreads);
  clock.Refresh();
  limiter->Install(MakeFunction(++seq, kLimitMax, clock), clock.Now());
  sums.Add(limiter->Measure(clock.Now(), absl::ZeroDuration()));

  EXPECT_LE(tally.held_max, kLimitMax);
  EXPECT_GT(tally.rejected, 0);
  EXPECT_EQ(sums.total.admitted, tally.admitted);
  EXPECT_EQ(sums.total.succeeded, tally.succeeded);
  EXPECT_EQ(sums.total.dropped, tally.dropped);
  EXPECT_EQ(sums.total.ignored, tally.ignored);
  EXPECT_EQ(sums.total.rejected[0], tally.rejected);
  EXPECT_EQ(sums.latencies, tally.succeeded + tally.dropped);
  EXPECT_EQ(limiter->in_flight(), 0);
}

// Rule A3: once the limit is 0 and no call in flight was read, none is until the limit rises again.
TEST(LimiterThreadsTest, NoCallIsMissingInWhatAcknowledgesALowerLimit) {
  const Clock& clock = RealClock();
  const LimiterPtr limiter = MakeLimiter(clock);
  std::atomic<bool> stop{false};
  std::atomic<bool> acknowledged_none{false};
  std::atomic<int> missing{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        Admission admission = limiter->TryAcquire();
        if (!admission) continue;
        for (int look = 0; look < 20; ++look) missing += acknowledged_none ? 1 : 0;
        admission->Succeed();
      }
    });
  }
  std::int64_t seq = 0;
  for (int round = 0; round < 2'000; ++round) {
    limiter->Install(MakeFunction(++seq, 4, clock), clock.Now());
    for (int spin = 0; spin < 50; ++spin) limiter->in_flight();
    limiter->Install(MakeFunction(++seq, 0, clock), clock.Now());
    while (limiter->Measure(clock.Now(), absl::InfiniteDuration()).in_flight > 0) {
    }
    acknowledged_none = true;
    for (int spin = 0; spin < 50; ++spin) limiter->in_flight();
    acknowledged_none = false;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(missing, 0);
}

TEST(LimiterThreadsTest, TheLastOfManyPermitsCleansUpAfterTheOwner) {
  for (int round = 0; round < 200; ++round) {
    LimiterPtr limiter = MakeLimiter(RealClock());
    limiter->Install(MakeFunction(1, kThreads, RealClock()), RealClock().Now());
    std::atomic<int> holding{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        Admission admission = limiter->TryAcquire();
        ++holding;
        while (holding < kThreads + 1) std::this_thread::yield();
        if (admission) admission->Succeed();
      });
    }
    while (holding < kThreads) std::this_thread::yield();
    ++holding;
    limiter.reset();
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace plimsoll::internal
