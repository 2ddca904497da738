// What AcquireAsync() promises to callbacks that touch their bulkhead while it goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "agent/src/bulkhead_factory.h"
#include "tests/unit/agent/waiting_support.h"

namespace plimsoll {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class AcquireTeardownTest : public WaitingTest {
 protected:
  std::unique_ptr<Bulkhead> MakeBulkhead() {
    auto* const limiter = internal::Limiter::Make(clock_, WithQueue(9), &timers_);
    limiter->Install(MakeFunction(1, 1, clock_), clock_.Now());
    return BulkheadFactory::Make("payments-api", limiter);
  }
  void Wait(Bulkhead& bulkhead, std::function<void(Admission)> callback) {
    bulkhead.AcquireAsync(Waits(), std::move(callback));
  }
  static std::string Word(const Admission& admission) {
    return admission ? "in" : std::string(ToString(admission.rejection()));
  }

  std::vector<std::string> words_;
};

TEST_F(AcquireTeardownTest, ACallbackMayUseTheBulkheadThatGoesAndIsRefused) {
  auto bulkhead = MakeBulkhead();
  const Admission holder = bulkhead->TryAcquire();
  std::thread::id ran_on;
  Wait(*bulkhead, [&, &b = *bulkhead](const Admission& admission) {
    ran_on = std::this_thread::get_id();
    words_.push_back(Word(admission));
    words_.push_back(Word(b.TryAcquire()));
    words_.push_back(Word(b.Acquire(Waits())));
    Wait(b, [&](const Admission& again) { words_.push_back(Word(again)); });
    EXPECT_EQ(b.in_flight(), 1);
    EXPECT_EQ(b.stats().waiting, 0);
  });
  bulkhead = nullptr;
  EXPECT_THAT(words_, ElementsAre("draining", "draining", "draining", "draining"));
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  EXPECT_EQ(timers_.size(), 0U);
}

// The other callbacks of a thread wait for the end of the one that runs; not those of a bulkhead
// that goes, which would touch it too late.
TEST_F(AcquireTeardownTest, ACallbackMayDestroyABulkheadAndAllOthersOfItRunBefore) {
  auto outer = MakeBulkhead();
  auto inner = MakeBulkhead();
  Admission outer_holder = outer->TryAcquire();
  Admission inner_holder = inner->TryAcquire();
  for (int i = 0; i < 3; ++i) {
    Wait(*inner, [&, &b = *inner](const Admission&) { words_.push_back(Word(b.TryAcquire())); });
  }
  Wait(*outer, [&](const Admission&) {
    inner_holder->Succeed();  // the first is answered, and waits for its turn in this thread
    inner = nullptr;
    EXPECT_EQ(words_.size(), 3U);
  });
  outer_holder->Succeed();
  EXPECT_EQ(words_.size(), 3U);
  EXPECT_THAT(words_, Each("draining"));
}

TEST_F(AcquireTeardownTest, ACallbackMayEndTheLastPermitOfABulkheadThatGoes) {
  auto bulkhead = MakeBulkhead();
  Admission holder = bulkhead->TryAcquire();
  Wait(*bulkhead, [&](const Admission& admission) {
    words_.push_back(Word(admission));
    holder->Succeed();
  });
  bulkhead = nullptr;
  EXPECT_THAT(words_, ElementsAre("draining"));
}

}  // namespace
}  // namespace plimsoll
