#include "plimsoll/agent/retry_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <thread>
#include <vector>

#include "agent/src/retry_budget_factory.h"
#include "plimsoll/core/random.h"
#include "tests/unit/agent/manual_clock.h"

namespace plimsoll {
namespace {

constexpr RetryBudgetOptions kTenPercent = {.ratio = 0.1, .min_per_second = 0};
constexpr absl::Duration kWindow = absl::Seconds(10);

class RetryBudgetTest : public ::testing::Test {
 protected:
  void Make(const RetryBudgetOptions& options) {
    budget_ = RetryBudgetFactory::Make(options, clock_);
  }
  void Call(int times) {
    for (int i = 0; i < times; ++i) budget_->CountCall();
  }
  // How many of so many tries are allowed.
  int Take(int tries) {
    int taken = 0;
    for (int i = 0; i < tries; ++i) taken += budget_->TryTake() ? 1 : 0;
    return taken;
  }

  ManualClock clock_;
  std::unique_ptr<RetryBudget> budget_ = RetryBudgetFactory::Make(kTenPercent, clock_);
};

TEST_F(RetryBudgetTest, RetriesAreAShareOfTheCalls) {
  Call(100);
  EXPECT_EQ(Take(50), 10);
}

TEST_F(RetryBudgetTest, WithoutTrafficAndFloorThereAreNone) { EXPECT_EQ(Take(5), 0); }

TEST_F(RetryBudgetTest, TheFloorIsARateOverTheWindow) {
  Make({.ratio = 0.1, .min_per_second = 2});
  EXPECT_EQ(Take(50), 20);
  clock_.Advance(2 * kWindow);
  EXPECT_EQ(Take(50), 20);
}

TEST_F(RetryBudgetTest, CallsOlderThanTheWindowGiveNothing) {
  Call(100);
  clock_.Advance(kWindow);
  EXPECT_EQ(Take(5), 0);
}

TEST_F(RetryBudgetTest, RetriesOlderThanTheWindowTakeNothing) {
  Call(100);
  EXPECT_EQ(Take(10), 10);
  clock_.Advance(kWindow + kWindow / 10);
  Call(100);
  EXPECT_EQ(Take(50), 10);
}

TEST_F(RetryBudgetTest, DeniedOnesTakeNothing) {
  Call(10);
  EXPECT_EQ(Take(1000), 1);
  Call(10);
  EXPECT_EQ(Take(1000), 1);
}

TEST_F(RetryBudgetTest, ForgetsAlsoAfterVeryLongSilence) {
  for (const std::int64_t slices : {(1 << 19) - 1, 1 << 19, (1 << 19) + 20}) {
    Make(kTenPercent);
    Call(1000);
    clock_.Advance(absl::Seconds(slices));
    EXPECT_EQ(Take(5), 0) << slices;
    Call(100);
    clock_.Advance(kWindow);
    EXPECT_EQ(Take(5), 0) << slices;
  }
}

TEST_F(RetryBudgetTest, CountsWhatItAllowedAndDenied) {
  Call(20);
  clock_.Advance(3 * kWindow);
  Call(30);
  Take(5);
  const RetryBudgetStats stats = budget_->stats();
  EXPECT_EQ(stats.calls, 50);
  EXPECT_EQ(stats.retries, 3);
  EXPECT_EQ(stats.denied, 2);
}

// The slow, obvious twin: remembers every moment.
class Diary {
 public:
  void Call(Instant at) { calls_.push_back(at); }
  void Retry(Instant at) { retries_.push_back(at); }
  static int Since(const std::vector<Instant>& moments, Instant start) {
    return static_cast<int>(moments.end() -
                            std::upper_bound(moments.begin(), moments.end(), start));
  }
  bool WithinBound(Instant now, double ratio) const {
    return Since(retries_, now - kWindow) <= ratio * Since(calls_, now - kWindow);
  }
  std::size_t retries() const { return retries_.size(); }
  std::size_t calls() const { return calls_.size(); }

 private:
  std::vector<Instant> calls_;
  std::vector<Instant> retries_;
};

TEST_F(RetryBudgetTest, NoWindowWhereverItBeginsHasMoreThanItsShare) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Make(kTenPercent);
    Random random(seed);
    Diary diary;
    double rate = 50;
    for (int i = 0; i < 5000; ++i) {
      if (random.Chance(0.002)) rate = random.Uniform(1, 200);  // traffic comes and goes
      clock_.Advance(absl::Seconds(random.Exponential(1 / rate)));
      budget_->CountCall();
      diary.Call(clock_.Now());
      if (!random.Chance(0.5) || !budget_->TryTake()) continue;
      diary.Retry(clock_.Now());
      ASSERT_TRUE(diary.WithinBound(clock_.Now(), kTenPercent.ratio)) << "seed " << seed;
    }
  }
}

TEST_F(RetryBudgetTest, ASteadyStreamGetsNearlyAllOfItsShare) {
  int taken = 0;
  for (int i = 0; i < 10'000; ++i) {
    clock_.Advance(absl::Milliseconds(10));
    budget_->CountCall();
    taken += budget_->TryTake() ? 1 : 0;
  }
  EXPECT_GE(taken, 850);
  EXPECT_LE(taken, 1000);
}

TEST_F(RetryBudgetTest, ThreadsTogetherNeverTakeMore) {
  Call(1000);
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 1000; ++j) taken += budget_->TryTake() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(taken, 100);
  EXPECT_GE(taken, 90);  // two that collide may both be denied
  EXPECT_EQ(budget_->stats().retries + budget_->stats().denied, 4000);
}

TEST(RetryBudgetOptionsTest, NamesEveryFault) {
  EXPECT_TRUE(Validate(RetryBudgetOptions()).ok());
  const absl::Status status =
      Validate(RetryBudgetOptions{.ratio = 1.5, .min_per_second = -1, .window = {}});
  EXPECT_EQ(status.message(),
            "retry budget options: ratio is 1.5: must be 0 to 1; min_per_second is -1: must be 0 "
            "to 1000; window is 0 ns: must be 1 second to 10 minutes");
}

}  // namespace
}  // namespace plimsoll
