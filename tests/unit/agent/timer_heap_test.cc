#include "agent/src/timer_heap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "plimsoll/core/random.h"

namespace plimsoll::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TimerHeapTest : public ::testing::Test {
 protected:
  TimerId Add(std::int64_t at, int name) {
    return heap_.Schedule(Instant{at}, [this, name] { ran_.push_back(name); });
  }
  void RunDue(std::int64_t now) {
    while (const auto due = heap_.PopDue(Instant{now})) (*due)();
  }

  TimerHeap heap_;
  std::vector<int> ran_;
};

TEST_F(TimerHeapTest, IsNeverDueWhenEmpty) {
  EXPECT_EQ(heap_.next(), kInfiniteFuture);
  EXPECT_FALSE(heap_.PopDue(kInfiniteFuture).has_value());
}

TEST_F(TimerHeapTest, RunsByTimeAndWhatIsDueAtOneTimeInTheOrderOfScheduling) {
  for (int name = 0; name < 10; ++name) Add(name < 5 ? 20 : 10, name);
  RunDue(20);
  EXPECT_THAT(ran_, ElementsAre(5, 6, 7, 8, 9, 0, 1, 2, 3, 4));
}

TEST_F(TimerHeapTest, RunsNothingBeforeItIsDue) {
  Add(20, 1);
  EXPECT_EQ(heap_.next(), Instant{20});
  RunDue(19);
  EXPECT_THAT(ran_, IsEmpty());
  RunDue(20);
  EXPECT_THAT(ran_, ElementsAre(1));
}

TEST_F(TimerHeapTest, WhatIsCancelledIsGoneAndCannotBeCancelledTwice) {
  const TimerId first = Add(10, 1);
  Add(20, 2);
  EXPECT_TRUE(heap_.Cancel(first).has_value());
  EXPECT_EQ(heap_.size(), 1);
  EXPECT_FALSE(heap_.Cancel(first).has_value());
  RunDue(20);
  EXPECT_THAT(ran_, ElementsAre(2));
}

TEST_F(TimerHeapTest, AnOldIdDoesNotCancelTheNextTimerInItsPlace) {
  const TimerId first = Add(10, 1);
  RunDue(10);
  const TimerId second = Add(20, 2);
  EXPECT_NE(first, second);
  EXPECT_FALSE(heap_.Cancel(first).has_value());
  EXPECT_FALSE(heap_.Cancel(kNoTimer).has_value());
  EXPECT_TRUE(heap_.Cancel(second).has_value());
}

// The same by hand: all timers in one list, the first by time and order of scheduling is next.
class SlowTimers {
 public:
  void Schedule(TimerId timer, Instant at, int name) { timers_[order_++] = {timer, at, name}; }
  bool Cancel(TimerId timer) {
    return std::erase_if(timers_, [&](const auto& each) { return each.second.timer == timer; }) > 0;
  }
  std::optional<int> PopDue(Instant now) {
    const auto next = std::ranges::min_element(
        timers_, {}, [](const auto& each) { return std::pair(each.second.at, each.first); });
    if (next == timers_.end() || next->second.at > now) return std::nullopt;
    const int name = next->second.name;
    timers_.erase(next);
    return name;
  }
  std::size_t size() const { return timers_.size(); }

 private:
  struct Timer {
    TimerId timer;
    Instant at;
    int name;
  };
  std::map<int, Timer> timers_;
  int order_ = 0;
};

TEST_F(TimerHeapTest, DoesWhatASlowListDoes) {
  Random random(7);
  SlowTimers slow;
  std::vector<TimerId> ids;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t choice = random.Next() % 8;
    if (choice < 4) {
      const Instant at{static_cast<std::int64_t>(random.Next() % 50)};
      ids.push_back(Add(at.ns, step));
      slow.Schedule(ids.back(), at, step);
    } else if (choice < 6 && !ids.empty()) {
      const TimerId timer = ids[random.Next() % ids.size()];
      ASSERT_EQ(heap_.Cancel(timer).has_value(), slow.Cancel(timer)) << "step " << step;
    } else {
      const Instant now{static_cast<std::int64_t>(random.Next() % 60)};
      const auto due = heap_.PopDue(now);
      const auto expected = slow.PopDue(now);
      ASSERT_EQ(due.has_value(), expected.has_value()) << "step " << step;
      if (!due.has_value()) continue;
      (*due)();
      ASSERT_EQ(ran_.back(), *expected) << "step " << step;
    }
    ASSERT_EQ(heap_.size(), slow.size());
    if (ids.size() > 200) ids.erase(ids.begin(), ids.begin() + 100);
  }
}

}  // namespace
}  // namespace plimsoll::internal
