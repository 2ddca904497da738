#include "agent/src/sync_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tests/unit/agent/fake_transport.h"
#include "tests/unit/agent/manual_clock.h"

namespace plimsoll::internal {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const DependencyId kPayments("payments-api");
const DependencyId kOrders("orders-db");

// What the session installed last. Thread-safe, since tests look at it while the loop runs.
class FakePort final : public GrantPort {
 public:
  void Install(const StepFunction& function, Instant now) override {
    limit_ = function.InForce(now);
  }
  void SetObserve(bool /*observe*/) override {}
  void StopAdmitting() override { limit_ = 0; }
  Measurement Measure(Instant, absl::Duration) override { return {}; }
  std::vector<OverduePermit> TakeOverdue(Instant) override { return std::exchange(overdue_, {}); }
  Calls limit() const { return limit_; }
  // Before the loop starts.
  void SetOverdue(std::vector<OverduePermit> overdue) { overdue_ = std::move(overdue); }

 private:
  std::vector<OverduePermit> overdue_;
  std::atomic<Calls> limit_{0};
};

class SyncLoopTest : public ::testing::Test {
 protected:
  SyncLoopTest() {
    SessionOptions options;
    options.service = ServiceId("checkout");
    options.instance = InstanceId("checkout-0");
    options.controllers = 2;
    loop_ = std::make_unique<SyncLoop>(options, clock_, Random(1), network_.MakeTransport(),
                                       [this](std::string_view line) {
                                         const MutexLock lock(mutex_);
                                         log_.emplace_back(line);
                                       });
    loop_->Add(kPayments, port_);
  }

  void Start() { ASSERT_TRUE(loop_->Start().ok()); }
  // Starts, and answers the registration.
  void StartRegistered(Calls limit) {
    Start();
    const Sent sent = network_.Take();
    ASSERT_NE(sent.registration(), nullptr);
    network_.Reply(MakeRegisterAnswer(*sent.registration(), limit));
  }
  SyncRequest TakeSync() {
    const Sent sent = network_.Take();
    EXPECT_NE(sent.sync(), nullptr);
    return sent.sync() == nullptr ? SyncRequest() : *sent.sync();
  }
  std::vector<std::string> Log() {
    const MutexLock lock(mutex_);
    return log_;
  }
  void Advance(absl::Duration by) {
    clock_.Advance(by);
    loop_->Wake();
  }
  // Lets the controller be away until the log has such a line. A message that a wake-up broke off
  // is sent again, so one answer need not be enough.
  void StayAwayUntilLogged(std::string_view part) {
    const auto has_part = [part](const std::string& line) {
      return line.find(part) != std::string::npos;
    };
    for (std::vector<std::string> lines = Log(); std::ranges::none_of(lines, has_part);
         lines = Log()) {
      network_.Reply(NoAnswer{absl::UnavailableError("refused")});
      AdvanceSeen(absl::Milliseconds(10));
    }
  }
  // Advances, and waits until the loop has looked at the clock: a loop that the machine has put
  // aside would else see hours pass at once.
  void AdvanceSeen(absl::Duration by) {
    const std::int64_t before = clock_.refreshed();
    Advance(by);
    while (clock_.refreshed() == before && !network_.HasMessage()) std::this_thread::yield();
  }
  // Takes the next message, however long the loop pauses before it.
  Sent TakeAfterPause() {
    while (!network_.HasMessage()) AdvanceSeen(absl::Milliseconds(10));
    return network_.Take();
  }

  ManualClock clock_;
  FakeNetwork network_;
  FakePort port_;
  FakePort orders_;
  Mutex mutex_;
  std::vector<std::string> log_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<SyncLoop> loop_;
};

TEST_F(SyncLoopTest, LogsPermitsThatAreOverdueWithWhereTheyWereTaken) {
  port_.SetOverdue({{"checkout.cc", 42, absl::Seconds(61)}});
  StartRegistered(7);
  TakeSync();
  EXPECT_THAT(Log(), ElementsAre("'payments-api': a permit taken at checkout.cc:42 has been held "
                                 "for 1m1s: was it forgotten?"));
}

TEST_F(SyncLoopTest, LogsNoMoreThanAFewOverduePermitsAtOnce) {
  port_.SetOverdue(std::vector<OverduePermit>(100, {"checkout.cc", 42, absl::Seconds(61)}));
  StartRegistered(7);
  TakeSync();
  ASSERT_EQ(Log().size(), 9);
  EXPECT_EQ(Log().back(), "'payments-api': so have 92 more permits");
}

TEST_F(SyncLoopTest, RegistersThenInstallsWhatItIsGranted) {
  StartRegistered(7);
  TakeSync();
  EXPECT_EQ(port_.limit(), 7);
}

TEST_F(SyncLoopTest, TriesTheNextControllerWhenTheFirstDoesNotAnswerButNotBeforeItsPause) {
  Start();
  EXPECT_EQ(network_.Take().controller, 0);
  network_.Reply(NoAnswer{absl::UnavailableError("refused")});
  ASSERT_TRUE(loop_->WaitFor(absl::Hours(1), [this] { return !Log().empty(); }));
  EXPECT_FALSE(network_.HasMessage());
  EXPECT_EQ(TakeAfterPause().controller, 1);
}

TEST_F(SyncLoopTest, LogsOnlyTheFirstOfManyFailuresAndTheEndOfTheirSeries) {
  Start();
  for (int i = 0; i < 3; ++i) {
    TakeAfterPause();
    network_.Reply(NoAnswer{absl::UnavailableError("refused " + std::to_string(i))});
  }
  const Sent sent = TakeAfterPause();
  EXPECT_THAT(Log(), ElementsAre("refused 0"));
  network_.Reply(MakeRegisterAnswer(*sent.registration(), 1));
  TakeSync();
  EXPECT_THAT(Log(), ElementsAre("refused 0", "the controller answers again"));
}

TEST_F(SyncLoopTest, LogsEachStepDown) {
  StartRegistered(7);
  network_.Reply(MakeSyncAnswer(TakeSync(), 7));
  TakeAfterPause();
  Advance(absl::Hours(24));
  StayAwayUntilLogged("the base lease has run out without a newer grant: the limit is 0");
}

TEST_F(SyncLoopTest, AnAnswerThatCannotBeUnderstoodChangesNothing) {
  StartRegistered(7);
  TakeSync();
  network_.Reply(NoAnswer{absl::DataLossError("not JSON")});
  const Sent next = TakeAfterPause();
  ASSERT_NE(next.sync(), nullptr);
  EXPECT_EQ(next.sync()->session, SessionId("1-1"));
  EXPECT_EQ(port_.limit(), 7);
  EXPECT_THAT(Log(), ElementsAre("not JSON"));
}

TEST_F(SyncLoopTest, ADependencyThatIsAddedBreaksTheHoldAndIsReportedAtOnce) {
  StartRegistered(7);
  EXPECT_EQ(TakeSync().dependencies.size(), 1);
  loop_->Add(kOrders, orders_);
  const SyncRequest next = TakeSync();
  ASSERT_EQ(next.dependencies.size(), 2);
  network_.Reply(MakeSyncAnswer(next, 3));
  TakeSync();
  EXPECT_EQ(orders_.limit(), 3);
  EXPECT_THAT(Log(), IsEmpty());
}

TEST_F(SyncLoopTest, LeavingBreaksTheHoldAndReleases) {
  StartRegistered(7);
  TakeSync();
  loop_->Leave();
  EXPECT_TRUE(network_.Take().is_release());
  EXPECT_EQ(port_.limit(), 0);
  EXPECT_FALSE(loop_->finished());
  network_.Reply(ReleaseAnswer{});
  EXPECT_TRUE(loop_->WaitFor(absl::Hours(1), [this] { return loop_->finished(); }));
  EXPECT_TRUE(loop_->released());
}

TEST_F(SyncLoopTest, StoppingBreaksOffWhateverIsUnderWay) {
  Start();
  network_.Take();
  loop_->Stop();
  EXPECT_FALSE(loop_->finished());
}

// A virtual machine was paused while its agent waited for an answer: the answer is not believed.
TEST_F(SyncLoopTest, TimeThatTheLeaseClockDidNotCountDropsLimitsToTheirReserve) {
  StartRegistered(7);
  const SyncRequest held = TakeSync();
  EXPECT_EQ(port_.limit(), 7);
  clock_.LoseTime(absl::Milliseconds(1001));
  SyncAnswer answer;
  answer.epoch = Epoch(1);
  answer.grants.push_back(MakeGrant(kPayments, 50, held.n, 9));
  network_.Reply(answer);
  const SyncRequest next = TakeSync();
  EXPECT_EQ(port_.limit(), 0);
  EXPECT_THAT(Log(), Contains(HasSubstr("ahead of the lease clock")));

  answer.grants = {MakeGrant(kPayments, 51, next.n, 9)};
  network_.Reply(answer);
  TakeSync();
  EXPECT_EQ(port_.limit(), 9);
}

TEST_F(SyncLoopTest, ASecondOfDifferenceBetweenTheClocksIsNoSuchSign) {
  StartRegistered(7);
  const SyncRequest held = TakeSync();
  clock_.LoseTime(absl::Seconds(1));
  network_.Reply(MakeSyncAnswer(held, 7));
  TakeSync();
  EXPECT_EQ(port_.limit(), 7);
  EXPECT_THAT(Log(), IsEmpty());
}

TEST_F(SyncLoopTest, CalendarTimeThatIsSetBackIsNoSuchSign) {
  StartRegistered(7);
  const SyncRequest held = TakeSync();
  clock_.LoseTime(-absl::Hours(5));
  network_.Reply(MakeSyncAnswer(held, 7));
  TakeSync();
  EXPECT_EQ(port_.limit(), 7);
}

TEST_F(SyncLoopTest, ADependencyWithoutPolicyIsLoggedOnce) {
  Start();
  const Sent sent = network_.Take();
  RegisterAnswer answer = MakeRegisterAnswer(*sent.registration(), 0);
  answer.grants.clear();
  answer.settings[0].known = false;
  network_.Reply(answer);
  for (int i = 0; i < 3; ++i) {
    TakeSync();
    SyncAnswer same;
    same.epoch = Epoch(1);
    network_.Reply(same);
  }
  TakeSync();
  EXPECT_THAT(Log(), ElementsAre(HasSubstr("no policy for 'payments-api'")));
}

TEST_F(SyncLoopTest, ARefusalIsLoggedWithItsDetail) {
  Start();
  network_.Take();
  network_.Reply(Refusal{RefusalCode::kAgentTooOld, "upgrade to 2.0", Epoch(1)});
  TakeAfterPause();
  EXPECT_THAT(Log(), ElementsAre("controller 0 refused: AGENT_TOO_OLD: upgrade to 2.0"));
}

TEST_F(SyncLoopTest, ASupersededInstanceGoesOnUnderAnotherName) {
  StartRegistered(7);
  TakeSync();
  EXPECT_EQ(loop_->instance(), "checkout-0");
  network_.Reply(Refusal{RefusalCode::kSessionSuperseded, "", Epoch(1)});
  const Sent again = TakeAfterPause();
  ASSERT_NE(again.registration(), nullptr);
  EXPECT_FALSE(again.registration()->unique_instance);
  EXPECT_EQ(loop_->instance(), again.registration()->instance.value);
  EXPECT_NE(loop_->instance(), "checkout-0");
}

}  // namespace
}  // namespace plimsoll::internal
