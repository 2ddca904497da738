// Numbers in brackets are failures that were reported of other breakers, as agent/README.md lists
// them.
#include "plimsoll/agent/breaker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/agent/manual_clock.h"

namespace plimsoll {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

BreakerOptions Options() {
  BreakerOptions options;
  options.consecutive_failures = 3;
  options.window = seconds(10);
  options.hang_after = seconds(30);
  options.cool_off = seconds(1);
  options.cool_off_max = seconds(8);
  options.cool_off_jitter = 0;
  options.probe_deadline = seconds(2);
  return options;
}

BreakerOptions RateOptions() {
  BreakerOptions options = Options();
  options.consecutive_failures = 0;
  options.failure_rate = 0.5;
  options.calls_min = 10;
  return options;
}

BreakerOptions Slow(BreakerOptions options, double rate, nanoseconds after) {
  options.slow_rate = rate;
  options.slow_after = after;
  return options;
}

class BreakerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Breaker> Make(BreakerOptions options) {
    options.on_change = [this](const BreakerChange& change) { changes_.push_back(change); };
    auto breaker = Breaker::Make(options, {.clock = &clock_, .seed = 1});
    EXPECT_TRUE(breaker.ok()) << breaker.status();
    return *std::move(breaker);
  }

  // One call; requires that it is let in.
  void Call(Breaker& breaker, Outcome outcome, nanoseconds latency = milliseconds(1)) {
    BreakerEntry entry = breaker.TryEnter();
    ASSERT_TRUE(entry.has_value());
    entry->Finish(outcome, latency);
  }
  void Calls(Breaker& breaker, int calls, Outcome outcome) {
    for (int i = 0; i < calls; ++i) Call(breaker, outcome);
  }
  std::unique_ptr<Breaker> MakeOpen(BreakerOptions options = Options()) {
    auto breaker = Make(options);
    Calls(*breaker, 3, Outcome::kError);
    EXPECT_EQ(breaker->state(), BreakerState::kOpen);
    return breaker;
  }
  // Open, and its first cool-off is over: the next call is a probe.
  std::unique_ptr<Breaker> MakeDue(BreakerOptions options = Options()) {
    auto breaker = MakeOpen(std::move(options));
    CoolOff(seconds(1));
    return breaker;
  }
  void Advance(nanoseconds by) { clock_.Advance(absl::FromChrono(by)); }
  // Beyond the cool-off, which is kept in units of a millisecond.
  void CoolOff(nanoseconds cool_off) { Advance(cool_off + milliseconds(2)); }

  ManualClock clock_;
  std::vector<BreakerChange> changes_;
};

TEST_F(BreakerTest, OpensAfterFailuresInARow) {
  const auto breaker = Make(Options());
  Calls(*breaker, 2, Outcome::kError);
  EXPECT_EQ(breaker->state(), BreakerState::kClosed);
  Call(*breaker, Outcome::kTimeout);
  EXPECT_EQ(breaker->state(), BreakerState::kOpen);
  ASSERT_EQ(changes_.size(), 1u);
  EXPECT_EQ(changes_[0].to, BreakerState::kOpen);
  EXPECT_EQ(changes_[0].reason, BreakerReason::kFailuresInARow);
}

TEST_F(BreakerTest, ASuccessBetweenFailuresKeepsItClosed) {
  const auto breaker = Make(Options());
  for (int i = 0; i < 20; ++i) {
    Calls(*breaker, 2, Outcome::kError);
    Call(*breaker, Outcome::kSuccess);
  }
  EXPECT_EQ(breaker->state(), BreakerState::kClosed);
}

TEST_F(BreakerTest, RefusesWhileOpenAndSaysHowLong) {
  const auto breaker = MakeOpen();
  BreakerEntry refused = breaker->TryEnter();
  ASSERT_FALSE(refused.has_value());
  EXPECT_GE(refused.retry_after(), seconds(1));
  EXPECT_LE(refused.retry_after(), seconds(1) + milliseconds(2));
  Advance(milliseconds(400));
  EXPECT_LE(breaker->TryEnter().retry_after(), milliseconds(602));
  Advance(breaker->TryEnter().retry_after());
  EXPECT_TRUE(breaker->TryEnter().has_value());
}

TEST_F(BreakerTest, OpensAtTheFailureRateWithEnoughCalls) {
  const auto breaker = Make(RateOptions());
  for (int i = 0; i < 4; ++i) {
    Call(*breaker, Outcome::kError);
    Call(*breaker, Outcome::kSuccess);
  }
  EXPECT_EQ(breaker->state(), BreakerState::kClosed) << "8 calls say nothing";
  Call(*breaker, Outcome::kSuccess);
  Call(*breaker, Outcome::kError);
  EXPECT_EQ(breaker->state(), BreakerState::kOpen) << "5 of 10";
  EXPECT_EQ(changes_.at(0).reason, BreakerReason::kFailureRate);
}

TEST_F(BreakerTest, StaysClosedBelowTheFailureRate) {
  const auto breaker = Make(RateOptions());
  for (int i = 0; i < 200; ++i) {
    Call(*breaker, Outcome::kSuccess);
    Call(*breaker, i % 4 == 0 ? Outcome::kSuccess : Outcome::kError);
    Advance(milliseconds(100));
  }
  EXPECT_EQ(breaker->state(), BreakerState::kClosed);
}

TEST_F(BreakerTest, OldFailuresDoNotCountForTheRate) {
  const auto breaker = Make(RateOptions());
  Calls(*breaker, 9, Outcome::kError);
  Advance(seconds(15));
  Calls(*breaker, 5, Outcome::kError);
  EXPECT_EQ(breaker->state(), BreakerState::kClosed);
}

TEST_F(BreakerTest, OpensAtTheSlowRateThoughAllSucceed) {
  const auto breaker = Make(Slow(RateOptions(), 0.5, milliseconds(100)));
  for (int i = 0; i < 5; ++i) {
    Call(*breaker, Outcome::kSuccess, milliseconds(100));
    Call(*breaker, Outcome::kSuccess, milliseconds(101));
  }
  EXPECT_EQ(breaker->state(), BreakerState::kOpen);
  EXPECT_EQ(changes_.at(0).reason, BreakerReason::kSlowRate);
}

// [25] What the process refused itself, and what says nothing of the dependency.
TEST_F(BreakerTest, OverloadCancelledAndIgnoredNeverOpenIt) {
  BreakerOptions options = RateOptions();
  options.consecutive_failures = 1;
  const auto breaker = Make(options);
  for (const Outcome outcome : {Outcome::kOverload, Outcome::kCancelled, Outcome::kIgnored}) {
    Calls(*breaker, 100, outcome);
  }
  for (int i = 0; i < 100; ++i) static_cast<void>(breaker->TryEnter());
  EXPECT_EQ(breaker->state(), BreakerState::kClosed);
  EXPECT_EQ(breaker->Snapshot().failed, 0);
}

// [25] A call that is refused while it is open is no failure: it does not prolong the outage.
TEST_F(BreakerTest, RefusalsDoNotProlongTheCoolOff) {
  const auto breaker = MakeOpen();
  for (int i = 0; i < 100; ++i) {
    Advance(milliseconds(10));
    static_cast<void>(breaker->TryEnter());
  }
  Advance(milliseconds(2));
  EXPECT_TRUE(breaker->TryEnter().has_value());
  EXPECT_EQ(breaker->Snapshot().refused, 100);
}

// [26] A fault of one minute: the dependency's return is noticed within cool_off_max and a probe.
TEST_F(BreakerTest, IsClosedSoonAfterALongOutage) {
  const auto breaker = MakeOpen();
  for (int ms = 0; ms < 60'000; ms += 10) {
    if (BreakerEntry entry = breaker->TryEnter(); entry) entry->Finish(Outcome::kError);
    Advance(milliseconds(10));
  }
  int waited_ms = 0;
  for (; breaker->state() != BreakerState::kClosed; waited_ms += 10) {
    ASSERT_LT(waited_ms, 8'010);
    if (BreakerEntry entry = breaker->TryEnter(); entry) entry->Finish(Outcome::kSuccess);
    Advance(milliseconds(10));
  }
  EXPECT_LE(breaker->Snapshot().probes, 3 + 60 / 8 + 2) << "and the outage was not hammered";
}

// [27] Calls that hang are seen before they end, even if none ever does.
TEST_F(BreakerTest, CallsThatHangOpenIt) {
  BreakerOptions options = RateOptions();
  options.hang_after = seconds(3);
  const auto breaker = Make(options);
  std::vector<BreakerEntry> hanging;
  for (int i = 0; i < 100 && breaker->state() == BreakerState::kClosed; ++i) {
    hanging.push_back(breaker->TryEnter());
    Advance(milliseconds(100));
  }
  EXPECT_EQ(breaker->state(), BreakerState::kOpen);
  EXPECT_LE(hanging.size(), 80u) << "3 s to hang, 1 s for 10 of them, two slices of 1.1 s";
}

// [27] The window is shorter than the calls take: they are counted all the same.
TEST_F(BreakerTest, TimeoutsLongerThanTheWindowOpenIt) {
  for (const nanoseconds hang_after : {nanoseconds(0), nanoseconds(seconds(2))}) {
    BreakerOptions options = RateOptions();
    options.window = seconds(1);
    options.hang_after = hang_after;
    const auto breaker = Make(options);
    std::vector<BreakerEntry> calls;
    for (int i = 0; i < 20; ++i) calls.push_back(breaker->TryEnter());
    Advance(seconds(30));
    for (BreakerEntry& call : calls) call->Finish(Outcome::kTimeout);
    EXPECT_EQ(breaker->state(), BreakerState::kOpen);
  }
}

// A leak of a few calls is no outage.
TEST_F(BreakerTest, AFewThatHangAmongManyThatSucceedKeepItClosed) {
  BreakerOptions options = Options();
  options.failure_rate = 0.5;
  options.hang_after = seconds(3);
  const auto breaker = Make(options);
  std::vector<BreakerEntry> leaked;
  for (int i = 0; i < 600; ++i) {
    if (i % 10 == 0) leaked.push_back(breaker->TryEnter());
    Call(*breaker, Outcome::kSuccess);
    Advance(milliseconds(100));
  }
  EXPECT_EQ(breaker->state(), BreakerState::kClosed);
  EXPECT_GT(breaker->Snapshot().hanging, 0);
}

// [30] [31] [35] Exactly one probe.
TEST_F(BreakerTest, HalfOpenLetsInOneCall) {
  const auto breaker = MakeDue();
  BreakerEntry probe = breaker->TryEnter();
  ASSERT_TRUE(probe.has_value());
  EXPECT_TRUE(probe->probe());
  EXPECT_EQ(breaker->state(), BreakerState::kHalfOpen);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(breaker->TryEnter().has_value());
  probe->Finish(Outcome::kSuccess);
  EXPECT_EQ(breaker->state(), BreakerState::kClosed);
  BreakerEntry next = breaker->TryEnter();
  ASSERT_TRUE(next.has_value());
  EXPECT_FALSE(next->probe());
}

// [30] Callers that come in the very moment in which the state changes.
TEST_F(BreakerTest, NobodyIsLetInBesideTheProbeAtTheMomentOfTheChange) {
  BreakerOptions options = Options();
  Breaker* breaker = nullptr;
  int let_in = 0;
  options.on_change = [&](const BreakerChange& change) {
    if (change.to != BreakerState::kHalfOpen) return;
    for (int i = 0; i < 10; ++i) let_in += breaker->TryEnter().has_value() ? 1 : 0;
  };
  auto made = Breaker::Make(options, {.clock = &clock_, .seed = 1});
  ASSERT_TRUE(made.ok());
  breaker = made->get();
  Calls(*breaker, 3, Outcome::kError);
  CoolOff(seconds(1));
  BreakerEntry probe = breaker->TryEnter();
  EXPECT_TRUE(probe.has_value());
  EXPECT_EQ(let_in, 0);
}

TEST_F(BreakerTest, AFailedProbeOpensItForLonger) {
  const auto breaker = MakeOpen();
  for (const nanoseconds cool_off : {seconds(1), seconds(2), seconds(4), seconds(8), seconds(8)}) {
    Advance(cool_off - milliseconds(1));
    EXPECT_FALSE(breaker->TryEnter().has_value());
    Advance(milliseconds(3));
    Call(*breaker, Outcome::kError);
    EXPECT_EQ(breaker->state(), BreakerState::kOpen);
  }
  EXPECT_EQ(breaker->Snapshot().opened, 1);
  EXPECT_EQ(breaker->Snapshot().reopened, 5);
}

TEST_F(BreakerTest, ClosingResetsTheCoolOffAndTheEvidence) {
  const auto breaker = MakeDue();
  Call(*breaker, Outcome::kError);
  CoolOff(seconds(2));
  Call(*breaker, Outcome::kSuccess);
  Calls(*breaker, 2, Outcome::kError);
  EXPECT_EQ(breaker->state(), BreakerState::kClosed) << "failures before do not count";
  Call(*breaker, Outcome::kError);
  EXPECT_LE(breaker->TryEnter().retry_after(), seconds(1) + milliseconds(2));
}

// [28] [36] A probe that never reports.
TEST_F(BreakerTest, ASilentProbeLosesItsPlaceAtItsDeadline) {
  const auto breaker = MakeDue();
  BreakerEntry silent = breaker->TryEnter();
  ASSERT_TRUE(silent.has_value());
  EXPECT_LE(breaker->TryEnter().retry_after(), seconds(2) + milliseconds(2));
  CoolOff(seconds(2));
  BreakerEntry other = breaker->TryEnter();
  ASSERT_TRUE(other.has_value());
  EXPECT_FALSE(breaker->TryEnter().has_value()) << "one probe again, not two";
  silent->Finish(Outcome::kError);
  EXPECT_EQ(breaker->state(), BreakerState::kHalfOpen) << "too late to say anything";
  other->Finish(Outcome::kSuccess);
  EXPECT_EQ(breaker->state(), BreakerState::kClosed);
}

// A thread may be put aside between reading the clock and looking at the breaker.
TEST_F(BreakerTest, ACallerWithAnOldTimeIsNotASecondProbe) {
  const auto breaker = MakeOpen();
  const std::int64_t old_ns = clock_.Now().ns;
  CoolOff(seconds(50));
  BreakerEntry probe = breaker->TryEnter();
  ASSERT_TRUE(probe.has_value());
  EXPECT_FALSE(breaker->TryEnterAt(old_ns).has_value());
}

TEST_F(BreakerTest, ALateProbeCountsIfNobodyHasTakenItsPlace) {
  const auto breaker = MakeDue();
  BreakerEntry late = breaker->TryEnter();
  Advance(seconds(100));
  late->Finish(Outcome::kSuccess);
  EXPECT_EQ(breaker->state(), BreakerState::kClosed);
}

// [28] [41] The probe is cancelled, forgotten, or refused by a later rule of the process, such as a
// bulkhead that is full: another may probe at once.
TEST_F(BreakerTest, AProbeThatSaysNothingFreesItsPlaceAtOnce) {
  const auto breaker = MakeDue();
  for (const Outcome outcome : {Outcome::kIgnored, Outcome::kCancelled, Outcome::kOverload}) {
    Call(*breaker, outcome);
    EXPECT_EQ(breaker->state(), BreakerState::kHalfOpen);
  }
  { BreakerEntry forgotten = breaker->TryEnter(); }
  BreakerEntry probe = breaker->TryEnter();
  ASSERT_TRUE(probe.has_value());
  EXPECT_TRUE(probe->probe());
}

// [29] No call, no change, however long; then one is let in.
TEST_F(BreakerTest, WaitsForACallForAsLongAsItTakes) {
  const auto breaker = MakeOpen();
  for (const int hours : {1, 24, 72, 78, 100, 1000}) {
    Advance(std::chrono::hours(hours));
    EXPECT_EQ(breaker->Snapshot().next_probe, nanoseconds(0)) << hours;
    BreakerEntry probe = breaker->TryEnter();
    ASSERT_TRUE(probe.has_value()) << hours;
    probe->Finish(Outcome::kIgnored);
  }
}

// [32] [37] Probes to close and failures to open are settings of their own; one probe at a time.
TEST_F(BreakerTest, ClosesAfterAsManyProbesAsAskedForOneAfterTheOther) {
  BreakerOptions options = Options();
  options.probes_to_close = 3;
  options.probe_failures_to_open = 2;
  const auto breaker = MakeDue(options);
  for (const Outcome outcome : {Outcome::kSuccess, Outcome::kError, Outcome::kSuccess}) {
    BreakerEntry probe = breaker->TryEnter();
    ASSERT_TRUE(probe.has_value());
    EXPECT_FALSE(breaker->TryEnter().has_value());
    probe->Finish(outcome);
    EXPECT_EQ(breaker->state(), BreakerState::kHalfOpen);
  }
  Call(*breaker, Outcome::kSuccess);
  EXPECT_EQ(breaker->state(), BreakerState::kClosed);
}

// [34] The least number of calls is not asked of probes.
TEST_F(BreakerTest, OneProbeIsEnoughWhateverCallsMinSays) {
  BreakerOptions options = RateOptions();
  options.calls_min = 1000;
  options.consecutive_failures = 3;
  const auto breaker = MakeDue(options);
  Call(*breaker, Outcome::kSuccess);
  EXPECT_EQ(breaker->state(), BreakerState::kClosed);
}

TEST_F(BreakerTest, ASlowProbeHasFailedIfSlownessOpensIt) {
  const auto breaker = MakeDue(Slow(Options(), 0.5, milliseconds(100)));
  Call(*breaker, Outcome::kSuccess, milliseconds(101));
  EXPECT_EQ(breaker->state(), BreakerState::kOpen);
}

// [33] Calls of before the outage say nothing of what came after.
TEST_F(BreakerTest, CallsOfAnEarlierTimeChangeNothing) {
  const auto breaker = Make(Options());
  std::vector<BreakerEntry> old;
  for (int i = 0; i < 10; ++i) old.push_back(breaker->TryEnter());
  Calls(*breaker, 3, Outcome::kError);
  old[0]->Finish(Outcome::kSuccess);
  EXPECT_EQ(breaker->state(), BreakerState::kOpen);
  CoolOff(seconds(1));
  BreakerEntry probe = breaker->TryEnter();
  old[1]->Finish(Outcome::kError);
  EXPECT_EQ(breaker->state(), BreakerState::kHalfOpen);
  probe->Finish(Outcome::kSuccess);
  for (int i = 2; i < 10; ++i) old[static_cast<std::size_t>(i)]->Finish(Outcome::kError);
  EXPECT_EQ(breaker->state(), BreakerState::kClosed);
  EXPECT_EQ(breaker->Snapshot().failures_in_a_row, 0);
}

TEST_F(BreakerTest, ATicketEndsOnceAndMovesWithItsRight) {
  const auto breaker = Make(Options());
  BreakerEntry entry = breaker->TryEnter();
  BreakerTicket ticket = *std::move(entry);
  entry->Finish(Outcome::kError);
  ticket.Finish(Outcome::kError);
  ticket.Finish(Outcome::kError);
  EXPECT_EQ(breaker->Snapshot().failures_in_a_row, 1);
  ticket = *breaker->TryEnter();
  ticket = *breaker->TryEnter();  // the one before is ignored
  ticket.Finish(Outcome::kError);
  EXPECT_EQ(breaker->Snapshot().failures_in_a_row, 2);
}

TEST_F(BreakerTest, AnOperatorsWordStays) {
  const auto breaker = Make(Options());
  breaker->Force(BreakerState::kForcedOpen);
  Advance(std::chrono::hours(5));
  EXPECT_EQ(breaker->TryEnter().retry_after(), nanoseconds::max());
  breaker->Force(BreakerState::kDisabled);
  Calls(*breaker, 100, Outcome::kError);
  EXPECT_EQ(breaker->state(), BreakerState::kDisabled);
  breaker->Force(BreakerState::kClosed);
  EXPECT_EQ(breaker->Snapshot().failed, 0);
  breaker->Force(BreakerState::kOpen);
  EXPECT_FALSE(breaker->TryEnter().has_value());
  breaker->Force(BreakerState::kHalfOpen);
  EXPECT_TRUE(breaker->TryEnter()->probe());
}

TEST_F(BreakerTest, TellsEveryChangeWithItsReason) {
  const auto breaker = MakeDue();
  Call(*breaker, Outcome::kError);
  CoolOff(seconds(2));
  Call(*breaker, Outcome::kSuccess);
  std::string told;
  for (const BreakerChange& change : changes_) {
    told += std::string(ToString(change.to)) + ":" + std::string(ToString(change.reason)) + " ";
  }
  EXPECT_EQ(told,
            "open:failures_in_a_row half_open:probing open:probe_failed half_open:probing "
            "closed:probes_passed ");
}

TEST_F(BreakerTest, ASnapshotTellsTheWindow) {
  const auto breaker = Make(Slow(RateOptions(), 1, milliseconds(10)));
  Calls(*breaker, 4, Outcome::kSuccess);
  Call(*breaker, Outcome::kSuccess, milliseconds(20));
  Call(*breaker, Outcome::kError);
  const BreakerSnapshot snapshot = breaker->Snapshot();
  EXPECT_EQ(snapshot.succeeded, 5);
  EXPECT_EQ(snapshot.slow, 1);
  EXPECT_EQ(snapshot.failed, 1);
  EXPECT_EQ(snapshot.failures_in_a_row, 1);
  EXPECT_EQ(snapshot.next_probe, nanoseconds(0));
}

// [30] [31] Threads at once, in real time: at no moment are two probes out, and it always gets out
// of half-open.
TEST(BreakerStressTest, NeverTwoProbesAtOnce) {
  ManualClock clock;
  BreakerOptions options = Options();
  options.probe_deadline = std::chrono::hours(1);
  const auto made = Breaker::Make(options, {.clock = &clock, .seed = 1});
  ASSERT_TRUE(made.ok());
  Breaker& breaker = **made;
  std::atomic<int> out{0};
  std::atomic<int> most{0};
  std::atomic<int> probes{0};
  constexpr int kRounds = 2000;
  const auto work = [&](int seed) {
    for (int i = seed; probes.load() < kRounds; ++i) {
      BreakerEntry entry = breaker.TryEnter();
      if (!entry) {
        // Not while a probe is out: its deadline must not pass.
        if (breaker.state() == BreakerState::kOpen) clock.Advance(absl::Milliseconds(100));
        std::this_thread::yield();
        continue;
      }
      if (!entry->probe()) {
        entry->Finish(Outcome::kError, milliseconds(1));
        continue;
      }
      const int now_out = ++out;
      int before = most.load();
      while (before < now_out && !most.compare_exchange_weak(before, now_out)) {
      }
      ++probes;
      std::this_thread::yield();
      --out;  // before it ends: afterwards the next one may be out
      entry->Finish(i % 3 == 0   ? Outcome::kError
                    : i % 3 == 1 ? Outcome::kIgnored
                                 : Outcome::kSuccess,
                    milliseconds(1));
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most.load(), 1);
  EXPECT_GE(breaker.Snapshot().probes, kRounds);
}

TEST(BreakerOptionsTest, TheDefaultIsValidAndAllFaultsAreListed) {
  EXPECT_TRUE(Validate(BreakerOptions()).ok());
  BreakerOptions options;
  options.consecutive_failures = -1;
  options.failure_rate = 1.5;
  options.slow_rate = std::numeric_limits<double>::quiet_NaN();
  options.calls_min = 0;
  options.window = milliseconds(99);
  options.cool_off = seconds(20);
  options.cool_off_growth = 0.9;
  options.cool_off_jitter = 1;
  options.probe_deadline = nanoseconds(0);
  options.probes_to_close = 16;
  options.probe_failures_to_open = 0;
  const std::string message(Validate(options).message());
  for (const char* name : {"consecutive_failures = -1", "failure_rate = 1.5", "slow_rate = nan",
                           "calls_min = 0", "window = 99ms", "cool_off_max = 10s: must be 20s",
                           "cool_off_growth = 0.9", "cool_off_jitter = 1", "probe_deadline = 0",
                           "probes_to_close = 16", "probe_failures_to_open = 0"}) {
    EXPECT_NE(message.find(name), std::string::npos) << name << " in: " << message;
  }
  EXPECT_FALSE(Breaker::Make(options).ok());
}

TEST(BreakerOptionsTest, RulesThatCannotWorkAreFaults) {
  BreakerOptions never;
  never.consecutive_failures = 0;
  EXPECT_FALSE(Validate(never).ok());
  BreakerOptions slow;
  slow.slow_rate = 0.5;
  EXPECT_FALSE(Validate(slow).ok());
  BreakerOptions hang;
  hang.hang_after = seconds(1);
  EXPECT_FALSE(Validate(hang).ok());
  hang.hang_after = nanoseconds(0);
  EXPECT_TRUE(Validate(hang).ok());
}

}  // namespace
}  // namespace plimsoll
