#include "agent/src/timer_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "plimsoll/core/mutex.h"
#include "tests/unit/agent/manual_clock.h"

namespace plimsoll::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What ran, in order. Thread-safe.
class Record {
 public:
  void Add(int name) {
    const MutexLock lock(mutex_);
    names_.push_back(name);
    added_.NotifyAll();
  }
  std::vector<int> Await(std::size_t count) {
    const MutexLock lock(mutex_);
    while (names_.size() < count) added_.Wait(mutex_);
    return names_;
  }
  std::vector<int> names() {
    const MutexLock lock(mutex_);
    return names_;
  }

 private:
  Mutex mutex_;
  CondVar added_;
  std::vector<int> names_ ABSL_GUARDED_BY(mutex_);
};

class TimerThreadTest : public ::testing::Test {
 protected:
  TimerId AddIn(absl::Duration left, int name) {
    return timers_.Schedule(clock_.Now() + left, [this, name] { record_.Add(name); });
  }
  void Advance(absl::Duration by) {
    clock_.Advance(by);
    timers_.Wake();
  }
  // Waits until the thread has looked at the clock once more.
  void AwaitLook() {
    const std::int64_t before = clock_.refreshed();
    timers_.Wake();
    while (clock_.refreshed() == before) std::this_thread::yield();
  }

  ManualClock clock_;
  Record record_;
  TimerThread timers_{clock_};
};

TEST_F(TimerThreadTest, HasNoThreadBeforeTheFirstTimer) {
  EXPECT_FALSE(timers_.Cancel(1));
  timers_.Wake();
  EXPECT_FALSE(timers_.started());
  EXPECT_NE(AddIn(absl::ZeroDuration(), 1), kNoTimer);
  EXPECT_TRUE(timers_.started());
  EXPECT_THAT(record_.Await(1), ElementsAre(1));
}

TEST_F(TimerThreadTest, RunsWhatIsDueAndNothingElse) {
  AddIn(absl::Seconds(2), 2);
  AddIn(absl::Seconds(1), 1);  // earlier than the one that is waited for
  AwaitLook();
  EXPECT_THAT(record_.names(), IsEmpty());
  Advance(absl::Seconds(1));
  EXPECT_THAT(record_.Await(1), ElementsAre(1));
  Advance(absl::Hours(1));
  EXPECT_THAT(record_.Await(2), ElementsAre(1, 2));
}

TEST_F(TimerThreadTest, WhatWasCancelledNeverRuns) {
  const TimerId first = AddIn(absl::Seconds(1), 1);
  AddIn(absl::Seconds(2), 2);
  EXPECT_TRUE(timers_.Cancel(first));
  EXPECT_FALSE(timers_.Cancel(first));
  Advance(absl::Seconds(2));
  EXPECT_THAT(record_.Await(1), ElementsAre(2));
}

TEST_F(TimerThreadTest, ACallbackMaySchedule) {
  ASSERT_NE(kNoTimer, timers_.Schedule(clock_.Now(), [this] { AddIn(absl::ZeroDuration(), 1); }));
  EXPECT_THAT(record_.Await(1), ElementsAre(1));
}

// Its destructor takes the lock of the timers, so it would wait for ever if that were held.
TEST_F(TimerThreadTest, WhatACallbackOwnsIsDestroyedWithoutTheLock) {
  const auto owned = [this](int name) {
    return std::shared_ptr<void>(nullptr, [this, name](void*) {
      timers_.Wake();
      record_.Add(name);
    });
  };
  ASSERT_NE(kNoTimer, timers_.Schedule(clock_.Now(), [owner = owned(1)] {}));
  EXPECT_THAT(record_.Await(1), ElementsAre(1));
  const TimerId later = timers_.Schedule(clock_.Now() + absl::Hours(1), [owner = owned(2)] {});
  EXPECT_TRUE(timers_.Cancel(later));
  EXPECT_THAT(record_.Await(2), ElementsAre(1, 2));
}

TEST_F(TimerThreadTest, ItsThreadBlocksAllSignals) {
  sigset_t mask;
  sigemptyset(&mask);
  ASSERT_NE(kNoTimer, timers_.Schedule(clock_.Now(), [&] {
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    record_.Add(1);
  }));
  record_.Await(1);
  for (const int signal : {SIGTERM, SIGPIPE, SIGUSR1}) EXPECT_EQ(sigismember(&mask, signal), 1);
}

TEST(TimerThreadEndTest, WhatIsNotDueNeverRuns) {
  const ManualClock clock;
  Record record;
  {
    TimerThread timers(clock);
    ASSERT_NE(kNoTimer,
              timers.Schedule(clock.Now() + absl::Hours(1), [&record] { record.Add(1); }));
  }
  EXPECT_THAT(record.names(), IsEmpty());
}

TEST(TimerThreadDeathTest, ACallbackThatThrowsEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        TimerThread timers(RealClock());
        static_cast<void>(
            timers.Schedule(Instant{0}, [] { throw std::runtime_error("thrown on purpose"); }));
        for (;;) std::this_thread::yield();
      },
      "the callback of a timer must not throw");
}

TEST(SharedTimersTest, IsOneForTheProcess) { EXPECT_EQ(&SharedTimers(), &SharedTimers()); }

}  // namespace
}  // namespace plimsoll::internal
