#include "agent/src/wait_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "plimsoll/core/random.h"

namespace plimsoll::internal {
namespace {

using ::testing::ElementsAre;

constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr auto kTarget = std::chrono::milliseconds(5);

QueueOptions Options(int capacity, QueueOrder order = QueueOrder::kFifo) {
  QueueOptions options;
  options.capacity = capacity;
  options.order = order;
  options.codel_interval = kInterval;
  return options;
}

QueueOptions WithCodel(QueueOptions options) {
  options.codel_target = kTarget;
  return options;
}

Waiter Of(std::size_t priority, Calls cost = 1) {
  Waiter waiter;
  waiter.priority = priority;
  waiter.cost = cost;
  return waiter;
}

Instant At(std::int64_t ms) { return Instant{} + absl::Milliseconds(ms); }

// A queue with the waiters that were put into it, who are known by their numbers.
class Waiting {
 public:
  explicit Waiting(const QueueOptions& options) : queue(options) {}

  Waiter& Push(std::size_t priority, std::int64_t at_ms, Calls cost = 1) {
    waiters.push_back(std::make_unique<Waiter>(Of(priority, cost)));
    gone = queue.Push(*waiters.back(), At(at_ms));
    return *waiters.back();
  }
  // Whose turns come when all are taken.
  std::vector<int> TakeAll(std::int64_t at_ms) {
    std::vector<int> order;
    while (Waiter* next = queue.Next(At(at_ms))) {
      order.push_back(NumberOf(*next));
      queue.Take(*next, At(at_ms));
    }
    return order;
  }
  int NumberOf(const Waiter& waiter) const {
    for (std::size_t number = 0; number < waiters.size(); ++number) {
      if (waiters[number].get() == &waiter) return static_cast<int>(number);
    }
    return -1;
  }

  WaitQueue queue;
  std::vector<std::unique_ptr<Waiter>> waiters;
  Waiter* gone = nullptr;
};

TEST(WaitQueueTest, FirstComeFirstServedHoweverLongTheyWait) {
  Waiting waiting(Options(3));
  for (int i = 0; i < 3; ++i) waiting.Push(0, i);
  EXPECT_THAT(waiting.TakeAll(10'000), ElementsAre(0, 1, 2));
}

TEST(WaitQueueTest, AMoreImportantClassGoesFirst) {
  Waiting waiting(Options(4));
  for (const std::size_t priority : {2U, 1U, 0U, 1U}) waiting.Push(priority, 0);
  EXPECT_THAT(waiting.TakeAll(0), ElementsAre(2, 1, 3, 0));
}

TEST(WaitQueueTest, ACostlyCallIsNextUntilItIsTakenThoughCheapOnesCameAfterIt) {
  Waiting waiting(Options(3));
  Waiter& costly = waiting.Push(1, 0, 50);
  waiting.Push(1, 1);
  waiting.Push(2, 1);
  EXPECT_EQ(waiting.queue.Next(At(99)), &costly);
  EXPECT_EQ(waiting.queue.units(), 52);
}

TEST(WaitQueueTest, WithAdaptiveLifoTheNewestIsNextOnceSomebodyWaitedForAnInterval) {
  Waiting waiting(Options(3, QueueOrder::kAdaptiveLifo));
  for (int i = 0; i < 3; ++i) waiting.Push(0, 10 + i);
  EXPECT_EQ(waiting.NumberOf(*waiting.queue.Next(At(109))), 0);
  EXPECT_THAT(waiting.TakeAll(110), ElementsAre(2, 1, 0));
}

TEST(WaitQueueTest, AQueueThatRunsEmptyIsFirstComeFirstServedAgain) {
  Waiting waiting(Options(3, QueueOrder::kAdaptiveLifo));
  waiting.Push(0, 0);
  waiting.TakeAll(150);
  waiting.Push(0, 151);
  waiting.Push(0, 152);
  EXPECT_THAT(waiting.TakeAll(200), ElementsAre(1, 2));
}

TEST(WaitQueueTest, WhoFindsItFullIsSentAway) {
  Waiting waiting(Options(2));
  waiting.Push(1, 0);
  EXPECT_EQ(waiting.gone, nullptr);
  waiting.Push(1, 0);
  Waiter& late = waiting.Push(1, 0);
  EXPECT_EQ(waiting.gone, &late);
  EXPECT_FALSE(late.standing);
  EXPECT_EQ(waiting.queue.size(), 2);
}

TEST(WaitQueueTest, IfItIsFullTheLastOfTheLeastImportantGivesWayToAMoreImportantOne) {
  Waiting waiting(Options(3));
  waiting.Push(1, 0);
  waiting.Push(2, 0);
  Waiter& last = waiting.Push(2, 0);
  waiting.Push(1, 0);
  EXPECT_EQ(waiting.gone, &last);
  EXPECT_THAT(waiting.TakeAll(0), ElementsAre(0, 3, 1));
}

TEST(WaitQueueTest, WithoutCapacityNobodyWaits) {
  Waiting waiting(Options(0));
  Waiter& only = waiting.Push(0, 0);
  EXPECT_EQ(waiting.gone, &only);
  EXPECT_TRUE(waiting.queue.empty());
}

TEST(WaitQueueTest, WhoGivesUpIsGoneFromAnyPlace) {
  for (const std::size_t place : {0U, 1U, 2U}) {
    Waiting waiting(Options(3));
    for (int i = 0; i < 3; ++i) waiting.Push(0, 0);
    waiting.queue.Remove(*waiting.waiters[place]);
    std::vector<int> rest = {0, 1, 2};
    rest.erase(rest.begin() + static_cast<int>(place));
    EXPECT_EQ(waiting.TakeAll(0), rest);
  }
}

TEST(WaitQueueTest, ANewcomerPassesOnlyThoseWhoAreLessImportant) {
  Waiting waiting(Options(3));
  EXPECT_FALSE(waiting.queue.Blocks(7));
  waiting.Push(1, 0);
  EXPECT_FALSE(waiting.queue.Blocks(0));
  EXPECT_TRUE(waiting.queue.Blocks(1));
  EXPECT_TRUE(waiting.queue.Blocks(7));
}

TEST(WaitQueueTest, AWaitEndsWhenItsCallCouldNotBeAnsweredInTimeAnyMore) {
  Waiter waiter;
  EXPECT_EQ(LastUse(waiter, absl::Hours(1)), kInfiniteFuture);
  waiter.leaves = At(100);
  waiter.answer_by = At(130);
  EXPECT_EQ(LastUse(waiter, absl::Milliseconds(30)), At(100));
  EXPECT_EQ(LastUse(waiter, absl::Milliseconds(31)), At(99));
}

// Whether it was allowed.
bool Take(WaitQueue& queue, Waiter& waiter, Instant now) {
  const bool allowed = queue.Allows(waiter, now);
  queue.Take(waiter, now);
  return allowed;
}

// A turn every 10 ms for one who waited for `wait_ms`, while another waits all the time: how many
// of `turns` are refused?
int RefusedOf(WaitQueue& queue, int turns, std::int64_t wait_ms, std::int64_t from_ms = 0) {
  Waiter standing = Of(1);
  EXPECT_EQ(queue.Push(standing, At(from_ms)), nullptr);
  int refused = 0;
  for (std::int64_t came = from_ms; came < from_ms + 10 * turns; came += 10) {
    Waiter waiter;
    EXPECT_EQ(queue.Push(waiter, At(came)), nullptr);
    refused += Take(queue, waiter, At(came + wait_ms)) ? 0 : 1;
  }
  queue.Remove(standing);
  return refused;
}

TEST(CodelTest, RefusesNobodyWhoseWaitIsWithinTheTarget) {
  WaitQueue queue(WithCodel(Options(9)));
  EXPECT_EQ(RefusedOf(queue, 100, 5), 0);
}

TEST(CodelTest, ToleratesWaitsUpToTwiceTheTarget) {
  WaitQueue queue(WithCodel(Options(9)));
  EXPECT_EQ(RefusedOf(queue, 100, 10), 0);
}

// 100 turns in a second: those of the first interval, and the first of each later one, are given.
TEST(CodelTest, RefusesThoseWhoWaitedForLongerOnceAWholeIntervalWasAboveTheTarget) {
  WaitQueue queue(WithCodel(Options(9)));
  EXPECT_EQ(RefusedOf(queue, 100, 11), 100 - 11 - 9);
}

TEST(CodelTest, IsOffWithoutATarget) {
  WaitQueue queue(Options(9));
  EXPECT_EQ(RefusedOf(queue, 100, 5000), 0);
}

TEST(CodelTest, AQueueThatRanEmptyIsNoStandingQueue) {
  WaitQueue queue(WithCodel(Options(9)));
  for (int i = 0; i < 100; ++i) {
    Waiter only;
    ASSERT_EQ(queue.Push(only, At(20 * i)), nullptr);
    EXPECT_TRUE(Take(queue, only, At(20 * i + 11)));
  }
}

TEST(CodelTest, OldOverloadIsForgotten) {
  WaitQueue queue(WithCodel(Options(9)));
  EXPECT_GT(RefusedOf(queue, 100, 11), 0);
  EXPECT_EQ(RefusedOf(queue, 10, 11, 60'000), 0);
}

// The same as an obvious list, and the formula as it is written down.
class SlowQueue {
 public:
  explicit SlowQueue(const QueueOptions& options) : options_(options) {}

  int Push(int number, std::size_t priority, Calls cost, Instant now) {
    int gone = -1;
    if (static_cast<int>(all_.size()) == options_.capacity) {
      // The least important; of those the last.
      const auto worst = std::ranges::max_element(
          all_, {}, [](const One& one) { return std::tuple(one.priority, one.number); });
      if (worst == all_.end() || worst->priority <= priority) return number;
      gone = worst->number;
      Remove(gone);
    }
    if (all_.empty()) filled_ = now;
    all_.push_back({number, priority, cost, now});
    return gone;
  }
  int Next(Instant now) const {
    const bool newest = options_.order == QueueOrder::kAdaptiveLifo &&
                        now - filled_ >= absl::FromChrono(options_.codel_interval);
    const auto next = std::ranges::min_element(all_, {}, [&](const One& one) {
      return std::tuple(one.priority, newest ? -one.number : one.number);
    });
    return next == all_.end() ? -1 : next->number;
  }
  bool Take(int number, Instant now) {
    const One one = *std::ranges::find(all_, number, &One::number);
    const bool drop = CodelDrops(now - one.since, now);
    Remove(number);
    return !drop;
  }
  void Remove(int number) {
    std::erase_if(all_, [&](const One& one) { return one.number == number; });
    if (all_.empty()) min_wait_ = absl::ZeroDuration();
  }
  bool Blocks(std::size_t priority) const {
    return std::ranges::any_of(all_, [&](const One& one) { return one.priority <= priority; });
  }
  int size() const { return static_cast<int>(all_.size()); }
  Calls units() const {
    Calls sum = 0;
    for (const One& one : all_) sum += one.cost;
    return sum;
  }
  int AnyOne(Random& random) const {
    return all_.empty() ? -1 : all_[random.Next() % all_.size()].number;
  }

 private:
  struct One {
    int number;
    std::size_t priority;
    Calls cost;
    Instant since;
  };

  bool CodelDrops(absl::Duration d, Instant now) {
    const absl::Duration target = absl::FromChrono(options_.codel_target);
    if (target == absl::ZeroDuration()) return false;
    bool fresh = false;
    if (now > interval_end_) {
      fresh = true;
      interval_end_ = now + absl::FromChrono(options_.codel_interval);
      overloaded_ = min_wait_ > target;
    }
    if (fresh) {
      min_wait_ = d;
      return false;
    }
    min_wait_ = std::min(min_wait_, d);
    return overloaded_ && d > 2 * target;
  }

  const QueueOptions options_;
  std::vector<One> all_;
  Instant filled_;
  Instant interval_end_;
  absl::Duration min_wait_;
  bool overloaded_ = false;
};

class TwinTest : public ::testing::TestWithParam<std::tuple<QueueOrder, int>> {};

TEST_P(TwinTest, DoesWhatASlowListDoes) {
  const auto [order, capacity] = GetParam();
  const QueueOptions options = WithCodel(Options(capacity, order));
  Random random(static_cast<std::uint64_t>(capacity) + 1);
  Waiting fast(options);
  SlowQueue slow(options);
  std::int64_t now = 0;
  int taken = 0;
  int refused = 0;
  const auto number_of = [&fast](const Waiter* waiter) {
    return waiter == nullptr ? -1 : fast.NumberOf(*waiter);
  };
  for (int step = 0; step < 20'000; ++step) {
    // Phases in which more come than go, and the reverse.
    const bool rush = step / 500 % 2 == 0;
    now += static_cast<std::int64_t>(random.Next() % 5);
    const std::uint64_t choice = random.Next() % 10;
    if (choice < (rush ? 8U : 2U)) {
      const std::size_t priority = random.Next() % 3;
      const auto cost = static_cast<Calls>(1 + random.Next() % 4);
      fast.Push(priority, now, cost);
      const int number = static_cast<int>(fast.waiters.size()) - 1;
      ASSERT_EQ(number_of(fast.gone), slow.Push(number, priority, cost, At(now)));
    } else if (choice < 9) {
      Waiter* next = fast.queue.Next(At(now));
      const int number = slow.Next(At(now));
      ASSERT_EQ(number_of(next), number) << "step " << step;
      if (next == nullptr) continue;
      const bool admitted = Take(fast.queue, *next, At(now));
      ASSERT_EQ(admitted, slow.Take(number, At(now))) << "step " << step;
      ++(admitted ? taken : refused);
    } else if (const int number = slow.AnyOne(random); number >= 0) {
      fast.queue.Remove(*fast.waiters[static_cast<std::size_t>(number)]);
      slow.Remove(number);
    }
    ASSERT_EQ(fast.queue.size(), slow.size());
    ASSERT_EQ(fast.queue.units(), slow.units());
    for (const std::size_t priority : {0U, 1U, 2U}) {
      ASSERT_EQ(fast.queue.Blocks(priority), slow.Blocks(priority));
    }
  }
  EXPECT_GT(taken, 1000);
  if (order == QueueOrder::kFifo && capacity > 1) {
    EXPECT_GT(refused, 100);
  }
}

INSTANTIATE_TEST_SUITE_P(AllOrders, TwinTest,
                         ::testing::Combine(::testing::Values(QueueOrder::kFifo,
                                                              QueueOrder::kAdaptiveLifo),
                                            ::testing::Values(1, 4, 30)));

}  // namespace
}  // namespace plimsoll::internal
