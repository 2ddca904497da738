#include "plimsoll/agent/acquire_await.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "agent/src/bulkhead_factory.h"
#include "tests/unit/agent/task.h"
#include "tests/unit/agent/waiting_support.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AcquireAwaitTest : public WaitingTest {
 protected:
  AcquireAwaitTest() {
    limiter_ = nullptr;
    auto* const limiter = internal::Limiter::Make(clock_, WithQueue(9), &timers_);
    limiter->Install(MakeFunction(1, 1, clock_), clock_.Now());
    bulkhead_ = BulkheadFactory::Make("payments-api", limiter);
  }

  Task Await(std::string name, Bulkhead::Executor executor = nullptr) {
    Note(name, co_await bulkhead_->AcquireAwait(Waits(), std::move(executor)));
  }

  std::unique_ptr<Bulkhead> bulkhead_;
};

TEST_F(AcquireAwaitTest, WithRoomACoroutineIsNotSuspended) {
  const Task task = Await("a");
  EXPECT_THAT(Answers(), ElementsAre("a: in"));
}

TEST_F(AcquireAwaitTest, AWaitingCoroutineGoesOnWhenACallEnds) {
  const Task a = Await("a");
  const Task b = Await("b");
  EXPECT_THAT(Answers(), ElementsAre("a: in"));
  End("a");
  EXPECT_THAT(Answers(), ElementsAre("b: in"));
}

TEST_F(AcquireAwaitTest, ItIsRefusedWhenItsPatienceEnds) {
  const Task a = Await("a");
  const Task b = Await("b");
  Pass(absl::Seconds(10));
  EXPECT_THAT(Answers(), ElementsAre("a: in", "b: deadline"));
}

TEST_F(AcquireAwaitTest, ItMayOutliveItsBulkhead) {
  const Task a = Await("a");
  const Task b = Await("b");
  bulkhead_.reset();
  EXPECT_THAT(Answers(), ElementsAre("a: in", "b: draining"));
}

TEST_F(AcquireAwaitTest, ACoroutineThatIsDestroyedWhileItWaitsLeavesTheQueue) {
  const Task a = Await("a");
  {
    const Task b = Await("b");
    EXPECT_EQ(bulkhead_->stats().waiting, 1);
  }
  EXPECT_EQ(bulkhead_->stats().waiting, 0);
  EXPECT_EQ(timers_.size(), 0);
  End("a");
  EXPECT_THAT(Answers(), ElementsAre("a: in"));
  EXPECT_EQ(bulkhead_->in_flight(), 0);
}

TEST_F(AcquireAwaitTest, InAnExecutorItGoesOnThere) {
  std::vector<std::function<void()>> posted;
  const auto post = [&posted](std::function<void()> go_on) { posted.push_back(std::move(go_on)); };
  const Task a = Await("a");
  const Task b = Await("b", post);
  Answers();
  End("a");
  EXPECT_THAT(Answers(), IsEmpty());
  ASSERT_EQ(posted.size(), 1);
  posted[0]();
  EXPECT_THAT(Answers(), ElementsAre("b: in"));
}

// It was posted already: it must not go on, and its permit goes to the next.
TEST_F(AcquireAwaitTest, DestroyedBeforeTheExecutorRunsItItsPermitGoesOn) {
  std::vector<std::function<void()>> posted;
  const auto post = [&posted](std::function<void()> go_on) { posted.push_back(std::move(go_on)); };
  const Task a = Await("a");
  auto b = std::make_unique<Task>(Await("b", post));
  const Task c = Await("c");
  Answers();
  End("a");
  b.reset();
  EXPECT_THAT(Answers(), ElementsAre("c: in"));
  ASSERT_EQ(posted.size(), 1);
  posted[0]();
  EXPECT_THAT(Answers(), IsEmpty());
  EXPECT_EQ(bulkhead_->in_flight(), 1);
}

TEST_F(AcquireAwaitTest, AnAwaiterThatIsNotAwaitedDoesNothing) {
  static_cast<void>(bulkhead_->AcquireAwait(Waits()));
  EXPECT_EQ(bulkhead_->stats().admitted, 0);
}

}  // namespace
}  // namespace plimsoll
