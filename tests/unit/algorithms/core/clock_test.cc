#include "plimsoll/core/clock.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

constexpr int kReads = 100'000;

TEST(RealClockTest, NeverGoesBack) {
  Instant last = RealClock().Now();
  for (int i = 0; i < kReads; ++i) {
    const Instant now = RealClock().Now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(RealClockTest, AGlanceIsAReading) {
  const Instant before = RealClock().Now();
  const Instant glance = RealClock().Glance();
  const Instant after = RealClock().Now();
  EXPECT_GE(glance - before, -absl::Microseconds(1));
  EXPECT_LE(glance, after + absl::Microseconds(1));
}

TEST(RealClockTest, DoesNotGoBackWhenRefreshed) {
  Instant last = RealClock().Now();
  for (int i = 0; i < kReads / 10; ++i) {
    RealClock().Refresh();
    const Instant now = RealClock().Now();
    ASSERT_GE(now, last);
    last = now;
  }
}

// Looks for a fifth of a second, which is long enough to go by the processor's counter.
TEST(RealClockTest, KeepsPaceWithTheSystemsClockWhateverItGoesBy) {
  using Steady = std::chrono::steady_clock;
  const Steady::time_point steady = Steady::now();
  const Instant start = RealClock().Now();
  while (RealClock().Now() - start < absl::Milliseconds(200)) RealClock().Refresh();
  const Instant end = RealClock().Now();
  const absl::Duration passed = absl::FromChrono(Steady::now() - steady);
  // The steady clock was read first and last, so it saw at least as much, slewing aside.
  EXPECT_LE(end - start, passed * 1.01);
}

TEST(RealClockTest, DoesNotGoBackFromOneThreadToAnotherWhileItIsRefreshed) {
  std::atomic<std::int64_t> newest{0};
  std::atomic<int> back{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      for (int read = 0; read < kReads; ++read) {
        const std::int64_t seen = newest.load();
        const std::int64_t now = RealClock().Now().ns;
        back += now < seen ? 1 : 0;
        newest.store(now);
        if (i == 0 && read % 100 == 0) RealClock().Refresh();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(back, 0);
}

// A child has nobody who would end what a thread of the parent had begun: one that took itself for
// its parent would wait for ever. SIGALRM ends it then.
TEST(RealClockTest, IsRefreshedInAChildThatWasForkedInTheMiddleOfARefresh) {
  std::atomic<bool> over{false};
  std::thread refreshing([&over] {
    while (!over) RealClock().Refresh();
  });
  int well = 0;
  constexpr int kChildren = 50;
  for (int i = 0; i < kChildren; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      RealClock().Refresh();
      _exit(0);
    }
    int status = -1;
    if (child > 0 && waitpid(child, &status, 0) == child && status == 0) ++well;
    if (well <= i) break;
  }
  over = true;
  refreshing.join();
  EXPECT_EQ(well, kChildren);
}

TEST(RealClockTest, Moves) {
  const Instant start = RealClock().Now();
  int reads = 0;
  while (RealClock().Now() == start) ASSERT_LT(++reads, kReads);
}

TEST(RealClockTest, TellsACalendarTimeOfOurEra) {
  const absl::Time now = RealClock().WallTime();
  EXPECT_GT(now, absl::FromUnixSeconds(1'700'000'000));  // November 2023
  EXPECT_LT(now, absl::FromUnixSeconds(7'258'118'400));  // January 2200
}

TEST(RealClockTest, IsOneObject) { EXPECT_EQ(&RealClock(), &RealClock()); }

}  // namespace
}  // namespace plimsoll
