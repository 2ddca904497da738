#include "algorithms/core/src/clock_steering.h"
#include "plimsoll/core/timeline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include "plimsoll/core/random.h"

namespace plimsoll::internal {
namespace {

constexpr double kGhz = 2.8;  // ticks per nanosecond
constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1'000 * kMs;

// A machine whose counter can be bent.
class Machine {
 public:
  void Pass(std::int64_t ns) {
    raw_ns_ += ns;
    ticks_ += static_cast<double>(ns) * ghz_;
  }
  void Suspend(std::int64_t ns, bool counter_goes_on) {
    suspended_ns_ += ns;
    if (counter_goes_on) ticks_ += static_cast<double>(ns) * ghz_;
  }
  void SetPace(double factor) { ghz_ = kGhz * factor; }
  void Jump(double ns) { ticks_ += ns * kGhz; }
  void SetUsable(bool usable) { usable_ = usable; }
  void SetWidth(std::int64_t ns) { width_ns_ = ns; }

  // Time passes while it is read: all of `width` between the counter and the rest.
  ClockReading Read() {
    ClockReading reading;
    reading.ticks = ticks();
    Pass(width_ns_);
    reading.width = ticks() - reading.ticks;
    reading.raw_ns = raw_ns_;
    reading.suspended_ns = suspended_ns_;
    reading.counter_usable = usable_;
    return reading;
  }
  std::int64_t Now(const Timeline& timeline) const {
    return timeline.by_counter() ? timeline.AtTicks(ticks()) : timeline.AtRaw(raw_ns_);
  }
  std::int64_t lease_ns() const { return raw_ns_ + suspended_ns_; }

 private:
  std::uint64_t ticks() const { return static_cast<std::uint64_t>(ticks_); }

  double ghz_ = kGhz;
  double ticks_ = 1e12;
  std::int64_t raw_ns_ = 5 * kSecond;
  std::int64_t suspended_ns_ = 7 * kSecond;
  std::int64_t width_ns_ = 60;
  bool usable_ = true;
};

// Looks, and checks each time that time has not gone back.
class ClockSteeringTest : public ::testing::Test {
 protected:
  void PassAndLook(std::int64_t ns) {
    machine_.Pass(ns);
    Look();
  }
  void Look() {
    const std::int64_t before = Now();
    steering_.Look(machine_.Read());
    EXPECT_GE(Now(), before);
  }
  void GoByCounter() {
    PassAndLook(60 * kMs);
    PassAndLook(60 * kMs);
    ASSERT_TRUE(ByCounter());
  }
  std::int64_t Now() const { return machine_.Now(steering_.timeline()); }
  std::int64_t Ahead() const { return Now() - machine_.lease_ns(); }
  bool ByCounter() const { return steering_.timeline().by_counter(); }

  Machine machine_;
  ClockSteering steering_{machine_.Read()};
};

TEST_F(ClockSteeringTest, BeginsWithTheSystemsClockAndTheTimeSpentSuspended) {
  EXPECT_FALSE(ByCounter());
  EXPECT_EQ(Ahead(), 0);
}

TEST_F(ClockSteeringTest, GoesByTheCounterWhenTwoStretchesGaveTheSamePace) {
  PassAndLook(60 * kMs);
  EXPECT_FALSE(ByCounter());
  PassAndLook(10 * kMs);  // too short
  EXPECT_FALSE(ByCounter());
  PassAndLook(50 * kMs);
  EXPECT_TRUE(ByCounter());
  EXPECT_GE(Ahead(), 0);
  EXPECT_LT(Ahead(), 2'000);
}

TEST_F(ClockSteeringTest, IsExactOverDays) {
  GoByCounter();
  const std::int64_t start = machine_.lease_ns();
  const std::int64_t ahead = Ahead();
  for (int i = 0; i < 2 * 24 * 60; ++i) PassAndLook(60 * kSecond);
  const auto passed = static_cast<double>(machine_.lease_ns() - start);
  EXPECT_LT(std::abs(static_cast<double>(Ahead() - ahead)) / passed, 1e-5);
}

TEST_F(ClockSteeringTest, NeverGoesByACounterThatIsNotUsable) {
  machine_.SetUsable(false);
  for (int i = 0; i < 10; ++i) PassAndLook(kSecond);
  EXPECT_TRUE(steering_.given_up());
  machine_.SetUsable(true);
  for (int i = 0; i < 10; ++i) PassAndLook(kSecond);
  EXPECT_FALSE(ByCounter());
}

TEST_F(ClockSteeringTest, NeverGoesByACounterThatIsNotSteady) {
  for (int i = 0; i < 100; ++i) {
    machine_.SetPace(i % 2 == 0 ? 1.0 : 1.001);
    PassAndLook(kSecond);
    EXPECT_FALSE(ByCounter());
  }
  EXPECT_TRUE(steering_.given_up());
}

TEST_F(ClockSteeringTest, NeverGoesByACounterOfAnImpossiblePace) {
  machine_.SetPace(0.001);
  for (int i = 0; i < 20; ++i) PassAndLook(kSecond);
  EXPECT_FALSE(ByCounter());
}

TEST_F(ClockSteeringTest, NeverGoesByACounterThatRunsBackwards) {
  PassAndLook(60 * kMs);
  machine_.Jump(-1e9);
  Look();
  EXPECT_TRUE(steering_.given_up());
  PassAndLook(kSecond);
  EXPECT_EQ(Ahead(), 0);
}

TEST_F(ClockSteeringTest, WideReadingsDoNotCalibrate) {
  machine_.SetWidth(50'000);
  PassAndLook(60 * kMs);
  PassAndLook(60 * kMs);
  EXPECT_FALSE(ByCounter());
  machine_.SetWidth(60);
  for (int i = 0; i < 4; ++i) PassAndLook(60 * kMs);
  EXPECT_TRUE(ByCounter());
}

TEST_F(ClockSteeringTest, AWideReadingIsNoReasonToGiveUp) {
  GoByCounter();
  machine_.SetWidth(3 * kMs);
  PassAndLook(kSecond);
  EXPECT_TRUE(ByCounter());
  machine_.SetWidth(60);
  PassAndLook(kSecond);
  EXPECT_TRUE(ByCounter());
  EXPECT_LT(Ahead(), 5'000);
}

TEST_F(ClockSteeringTest, StepsForwardByWhatTheCounterLacks) {
  GoByCounter();
  machine_.SetPace(1 - 100e-6);
  for (int i = 0; i < 10; ++i) {
    PassAndLook(kSecond);
    EXPECT_GE(Ahead(), -100);
    EXPECT_LT(Ahead(), 5'000);
  }
  EXPECT_TRUE(ByCounter());
}

TEST_F(ClockSteeringTest, StaysAheadByWhatTheCounterHasTooMuch) {
  GoByCounter();
  machine_.SetPace(1 + 100e-6);
  for (int i = 0; i < 10; ++i) PassAndLook(kSecond);
  EXPECT_TRUE(ByCounter());
  EXPECT_NEAR(static_cast<double>(Ahead()), 10 * 100e3, 10e3);
}

TEST_F(ClockSteeringTest, CountsASuspendThatTheCounterSleptThrough) {
  GoByCounter();
  const std::int64_t ahead = Ahead();
  machine_.Suspend(3600 * kSecond, false);
  PassAndLook(kMs);
  EXPECT_TRUE(ByCounter());
  EXPECT_NEAR(static_cast<double>(Ahead() - ahead), 0, 100);
}

TEST_F(ClockSteeringTest, CountsASuspendOnceThatTheCounterSawToo) {
  GoByCounter();
  machine_.Suspend(3600 * kSecond, true);
  PassAndLook(kMs);
  EXPECT_TRUE(ByCounter());
  EXPECT_LT(Ahead(), 5'000'000);  // what the pace is off in an hour
}

TEST_F(ClockSteeringTest, CountsASuspendBeforeTheCounterIsUsed) {
  PassAndLook(60 * kMs);
  machine_.Suspend(10 * kSecond, false);
  PassAndLook(60 * kMs);
  EXPECT_FALSE(ByCounter());
  EXPECT_EQ(Ahead(), 0);
  GoByCounter();
}

TEST_F(ClockSteeringTest, GivesUpForGoodWhenTheCounterBecomesFaster) {
  GoByCounter();
  machine_.SetPace(1.5);
  PassAndLook(kSecond);
  EXPECT_TRUE(steering_.given_up());
  const std::int64_t ahead = Ahead();
  EXPECT_GE(ahead, kSecond / 2);
  machine_.SetPace(1);
  for (int i = 0; i < 10; ++i) PassAndLook(kSecond);
  EXPECT_FALSE(ByCounter());
  EXPECT_EQ(Ahead(), ahead);
}

TEST_F(ClockSteeringTest, GivesUpForGoodWhenTheCounterBecomesSlowerAndLosesNothing) {
  GoByCounter();
  machine_.SetPace(0.9);
  PassAndLook(kSecond);
  EXPECT_TRUE(steering_.given_up());
  EXPECT_GE(Ahead(), 0);
  EXPECT_LT(Ahead(), 5'000);
}

TEST_F(ClockSteeringTest, GivesUpWhenTheCounterJumpsEitherWay) {
  for (const double jump_ns : {-3e9, 3e9, -40e3, 40e3}) {
    SCOPED_TRACE(jump_ns);
    machine_ = Machine();
    steering_ = ClockSteering(machine_.Read());
    GoByCounter();
    PassAndLook(kMs);
    const std::int64_t before = Now();
    machine_.Jump(jump_ns);
    machine_.Pass(kMs);
    steering_.Look(machine_.Read());
    EXPECT_TRUE(steering_.given_up());
    EXPECT_GE(Now(), before);
    EXPECT_GE(Ahead(), 0);
  }
}

TEST_F(ClockSteeringTest, GivesUpWhenTheKernelDoes) {
  GoByCounter();
  machine_.SetUsable(false);
  PassAndLook(kSecond);
  EXPECT_FALSE(ByCounter());
  EXPECT_LT(Ahead(), 5'000);
}

TEST_F(ClockSteeringTest, SuspendsAreCountedAfterItHasGivenUp) {
  GoByCounter();
  machine_.SetPace(1.5);
  PassAndLook(kSecond);
  const std::int64_t ahead = Ahead();
  machine_.Suspend(60 * kSecond, true);
  PassAndLook(kMs);
  EXPECT_EQ(Ahead(), ahead);
}

// Whatever happens to the counter: time never goes back at a look, and never passes too slowly.
TEST_F(ClockSteeringTest, NeverBackAndNeverTooSlowWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    machine_ = Machine();
    steering_ = ClockSteering(machine_.Read());
    for (int step = 0; step < 100; ++step) {
      const std::int64_t real = machine_.lease_ns();
      const std::int64_t start = Now();
      machine_.SetWidth(40 + static_cast<std::int64_t>(random.Below(1'500)));
      if (random.Chance(0.02)) machine_.SetPace(0.99 + random.Uniform() * 0.02);
      if (random.Chance(0.02)) machine_.Jump((random.Uniform() - 0.5) * 1e8);
      if (random.Chance(0.02)) machine_.Suspend(kSecond, random.Chance(0.5));
      machine_.Pass(static_cast<std::int64_t>(random.Below(2 * kSecond)));
      steering_.Look(machine_.Read());
      const std::int64_t passed = Now() - start;
      ASSERT_GE(passed, 0);
      const auto really_passed = static_cast<double>(machine_.lease_ns() - real);
      ASSERT_GE(static_cast<double>(passed), really_passed * 0.999 - 50'000);
    }
  }
}

TEST(TimelineTest, ALineReachesYearsWithoutOverflow) {
  const Timeline line = {static_cast<std::uint64_t>(std::ldexp(1 / kGhz, Timeline::kScaleBits)), 0,
                         kSecond};
  constexpr double kYear = 365.0 * 24 * 3600 * 1e9;
  const auto now = static_cast<double>(line.AtTicks(static_cast<std::uint64_t>(kYear * kGhz)));
  EXPECT_NEAR(now / kYear, 1, 1e-6);
  EXPECT_EQ(line.AtTicks(static_cast<std::uint64_t>(-5)), kSecond);
}

// Each timeline says the same in all its parts; a torn one would not.
TEST(PublishedTimelineTest, ReadersSeeWholeTimelinesAndNeverAnOlderOneAfterANewer) {
  PublishedTimeline published({1, 1, 1});
  std::atomic<bool> stop{false};
  std::atomic<int> torn{0};
  std::atomic<int> back{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      std::int64_t last = 0;
      while (!stop) {
        Timeline seen;
        const std::int64_t now = published.Now([&seen](const Timeline& timeline) {
          seen = timeline;
          return timeline.ns;
        });
        torn += seen.ns_per_tick != seen.ticks || seen.ns != static_cast<std::int64_t>(seen.ticks);
        back += now < last;
        last = now;
      }
    });
  }
  for (std::int64_t i = 2; i < 200'000; ++i) {
    const auto bits = static_cast<std::uint64_t>(i);
    published.Publish({bits, bits, i});
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(back, 0);
}

}  // namespace
}  // namespace plimsoll::internal
