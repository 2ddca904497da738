// Real breakers of agents and a real core, which talk as sessions do; without a network and without
// threads.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/src/fleet_breaker.h"
#include "tests/support/core_driver.h"
#include "tests/unit/agent/manual_clock.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::CoreDriver;
using ::plimsoll::testing::Policies;
using ::plimsoll::testing::TestPolicy;

constexpr absl::Duration kStep = absl::Milliseconds(10);

Policy BreakerPolicy() {
  Policy policy = TestPolicy("db", 50);
  policy.breaker.emplace();
  policy.breaker->rules = {.consecutive_failures = 0, .failure_rate = 0.5, .calls_min = 20};
  policy.breaker->cool_off = absl::Seconds(2);
  policy.breaker->cool_off_max = absl::Seconds(4);
  policy.breaker->probe_deadline = absl::Seconds(1);
  return policy;
}

class Instance {
 public:
  Instance(CoreDriver& driver, const ManualClock& clock, int index)
      : name_("i" + std::to_string(index)),
        breaker_(clock, Random(static_cast<std::uint64_t>(index) + 1), [this] { urgent_ = true; }) {
    breaker_.Use();
    Register(driver);
  }

  void Register(CoreDriver& driver) {
    session_ = driver.Join(name_);
    under_way_.reset();
  }
  void set_connected(bool connected) { connected_ = connected; }
  BreakerState state() { return breaker_.breaker().state(); }
  Breaker& breaker() { return breaker_.breaker(); }
  const SessionId& session() const { return session_; }

  // One sync after the other, held by the controller; an urgent one breaks the held one off.
  void Talk(CoreDriver& driver) {
    if (!connected_) {
      under_way_.reset();
      return;
    }
    if (under_way_.has_value() && driver.Replied(*under_way_)) TakeAnswer(driver);
    if (under_way_.has_value() && !urgent_) return;
    if (under_way_.has_value()) driver.Apply(AbandonEvent{*under_way_});
    urgent_ = false;
    driver.memory(session_).breaker = breaker_.Report(driver.now());
    under_way_ = driver.Sync(session_);
  }

 private:
  void TakeAnswer(CoreDriver& driver) {
    const auto* answer = std::get_if<SyncAnswer>(&driver.Reply(*under_way_));
    driver.Take(session_, *under_way_);
    under_way_.reset();
    if (answer == nullptr) return;
    for (const DependencySettings& settings : answer->settings) {
      breaker_.Configure(settings.breaker);
    }
    for (const BreakerOrder& order : answer->breakers) breaker_.Obey(order, driver.now());
  }

  std::string name_;
  bool urgent_ = false;
  bool connected_ = true;
  internal::FleetBreaker breaker_;
  SessionId session_;
  std::optional<RequestId> under_way_;
};

class BreakerFleetTest : public ::testing::Test {
 protected:
  BreakerFleetTest() { Start(CoreDriver::Fresh()); }

  void Start(const StoreState& state) {
    driver_ = std::make_unique<CoreDriver>(Policies({BreakerPolicy()}), CoreOptions(), state);
    now_ = driver_->now();
  }
  void Join(int count) {
    for (int i = 0; i < count; ++i) {
      fleet_.push_back(std::make_unique<Instance>(*driver_, clock_, i));
    }
    Pass(absl::Seconds(2));
  }
  // Every instance with traffic has a call each 40 ms, which ends as the dependency is.
  void Pass(absl::Duration duration) {
    for (absl::Duration passed; passed < duration; passed += kStep) {
      clock_.Advance(kStep);
      driver_->PassStep(kStep);
      ++step_;
      for (std::size_t i = 0; i < fleet_.size(); ++i) {
        if ((step_ + static_cast<int>(i)) % 4 == 0 && (i < busy_)) CallOnce(*fleet_[i]);
        fleet_[i]->Talk(*driver_);
      }
    }
  }
  void CallOnce(Instance& instance) {
    BreakerEntry entry = instance.breaker().TryEnter();
    if (!entry) return;
    ++calls_;
    entry->Finish(broken_ ? Outcome::kError : Outcome::kSuccess, std::chrono::milliseconds(5));
  }
  int CountIn(BreakerState state) {
    int count = 0;
    for (const auto& instance : fleet_) count += instance->state() == state ? 1 : 0;
    return count;
  }
  bool WaitUntilAll(BreakerState state, absl::Duration within) {
    for (absl::Duration passed; passed < within; passed += kStep) {
      if (CountIn(state) == static_cast<int>(fleet_.size())) return true;
      Pass(kStep);
    }
    return false;
  }
  std::optional<BreakerRow> Row() {
    return driver_->core().TakeSnapshot(driver_->now()).dependencies.at(0).breaker;
  }

  ManualClock clock_;
  Instant now_;
  std::unique_ptr<CoreDriver> driver_;
  std::vector<std::unique_ptr<Instance>> fleet_;
  std::size_t busy_ = 100;  // the first so many have calls
  bool broken_ = false;
  int step_ = 0;
  int calls_ = 0;
};

TEST_F(BreakerFleetTest, IsOpenEverywhereSoonThoughNobodySawEnoughAlone) {
  busy_ = 3;
  Join(8);
  EXPECT_EQ(CountIn(BreakerState::kClosed), 8);
  Pass(absl::Seconds(12));
  broken_ = true;
  ASSERT_TRUE(WaitUntilAll(BreakerState::kOpen, absl::Seconds(15)));
  EXPECT_EQ(Row()->view, BreakerView::kOpen);
  EXPECT_EQ(Row()->opened_total, 1);
  const auto events = driver_->core().log().Find({.type = EventType::kBreakerOpened}, 10);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_NE(events[0].message.find("the breaker of db is open everywhere"), std::string::npos)
      << events[0].message;
}

// [36] While the dependency is down, the fleet sends it one call per cool-off, whatever its size.
TEST_F(BreakerFleetTest, ProbesOnceForAll) {
  Join(8);
  broken_ = true;
  ASSERT_TRUE(WaitUntilAll(BreakerState::kOpen, absl::Seconds(10)));
  calls_ = 0;
  Pass(absl::Seconds(30));
  EXPECT_GE(calls_, 4);
  EXPECT_LE(calls_, 12) << "30 s in cool-offs of 2 to 4 s";
}

TEST_F(BreakerFleetTest, ClosesEverywhereWhenTheProbeHasPassed) {
  Join(8);
  broken_ = true;
  ASSERT_TRUE(WaitUntilAll(BreakerState::kOpen, absl::Seconds(10)));
  Pass(absl::Seconds(10));
  broken_ = false;
  ASSERT_TRUE(WaitUntilAll(BreakerState::kClosed, absl::Seconds(8)));
  EXPECT_EQ(driver_->core().log().total(EventType::kBreakerClosed), 1);
  Pass(absl::Seconds(20));
  EXPECT_EQ(CountIn(BreakerState::kClosed), 8) << "old evidence does not open it again";
}

TEST_F(BreakerFleetTest, AProberThatDiesIsReplaced) {
  Join(4);
  broken_ = true;
  ASSERT_TRUE(WaitUntilAll(BreakerState::kOpen, absl::Seconds(10)));
  busy_ = 0;  // so that whoever is chosen holds the probe
  for (int i = 0; i < 1000 && Row()->prober.empty(); ++i) Pass(kStep);
  const InstanceId dead = Row()->prober;
  ASSERT_FALSE(dead.empty());
  for (std::size_t i = 0; i < fleet_.size(); ++i) {
    if (InstanceId("i" + std::to_string(i)) == dead) fleet_[i]->set_connected(false);
  }
  broken_ = false;
  for (int i = 0; i < 600 && (Row()->prober == dead || Row()->prober.empty()); ++i) Pass(kStep);
  EXPECT_NE(Row()->prober, dead);
  EXPECT_FALSE(Row()->prober.empty());
}

TEST_F(BreakerFleetTest, WhoHasLostTheControllerGoesOnAloneAndYieldsWhenItIsBack) {
  Join(4);
  broken_ = true;
  ASSERT_TRUE(WaitUntilAll(BreakerState::kOpen, absl::Seconds(10)));
  for (auto& instance : fleet_) instance->set_connected(false);
  broken_ = false;
  // Longest: the cool-off, the lease, a fifth of both.
  ASSERT_TRUE(WaitUntilAll(BreakerState::kClosed, absl::Seconds(18)));
  for (auto& instance : fleet_) instance->set_connected(true);
  Pass(absl::Seconds(3));
  EXPECT_EQ(Row()->view, BreakerView::kClosed);
  EXPECT_EQ(CountIn(BreakerState::kClosed), 4);
  broken_ = true;
  EXPECT_TRUE(WaitUntilAll(BreakerState::kOpen, absl::Seconds(15)));
}

TEST_F(BreakerFleetTest, OneThatIsCutOffOpensByItself) {
  Join(4);
  fleet_[0]->set_connected(false);
  broken_ = true;
  EXPECT_TRUE(WaitUntilAll(BreakerState::kOpen, absl::Seconds(15)));
}

TEST_F(BreakerFleetTest, ARestartOfTheControllerForgetsNoOutageAndEndsIt) {
  Join(4);
  broken_ = true;
  ASSERT_TRUE(WaitUntilAll(BreakerState::kOpen, absl::Seconds(10)));
  Start(driver_->Successor(8));
  driver_->PassTo(clock_.Now());
  for (auto& instance : fleet_) instance->Register(*driver_);
  Pass(absl::Seconds(1));
  EXPECT_EQ(Row()->view, BreakerView::kOpen) << "taken over from the agents";
  EXPECT_EQ(CountIn(BreakerState::kOpen), 4);
  broken_ = false;
  EXPECT_TRUE(WaitUntilAll(BreakerState::kClosed, absl::Seconds(10)));
}

TEST_F(BreakerFleetTest, AnOlderOrderIsNotObeyed) {
  Join(1);
  internal::FleetBreaker breaker(clock_, Random(1), [] {});
  breaker.Use();
  breaker.Configure(BreakerPolicy().breaker);
  const auto order = [](std::int64_t epoch, std::int64_t seq, BreakerCommand command) {
    BreakerOrder made;
    made.id = {Epoch(epoch), Seq(seq)};
    made.command = command;
    made.hold = absl::Seconds(10);
    return made;
  };
  breaker.Obey(order(7, 5, BreakerCommand::kOpen), clock_.Now());
  EXPECT_EQ(breaker.breaker().state(), BreakerState::kOpen);
  breaker.Obey(order(7, 4, BreakerCommand::kClose), clock_.Now());
  EXPECT_EQ(breaker.breaker().state(), BreakerState::kOpen);
  breaker.Obey(order(6, 9, BreakerCommand::kClose), clock_.Now());
  EXPECT_EQ(breaker.breaker().state(), BreakerState::kOpen);
  breaker.Obey(order(8, 1, BreakerCommand::kClose), clock_.Now());
  EXPECT_EQ(breaker.breaker().state(), BreakerState::kClosed);
}

// An order to close ends what an order has begun, not what the process has seen itself.
TEST_F(BreakerFleetTest, AnOrderToCloseDoesNotCloseWhatOpenedByItself) {
  internal::FleetBreaker breaker(clock_, Random(1), [] {});
  breaker.Use();
  breaker.Configure(BreakerPolicy().breaker);
  for (int i = 0; i < 20; ++i) breaker.breaker().TryEnter()->Finish(Outcome::kError);
  ASSERT_EQ(breaker.breaker().state(), BreakerState::kOpen);
  BreakerOrder close;
  close.id = {Epoch(7), Seq(1)};
  breaker.Obey(close, clock_.Now());
  EXPECT_EQ(breaker.breaker().state(), BreakerState::kOpen);
}

TEST_F(BreakerFleetTest, WhoFindsItClosedByItsFirstPolicyIsCounted) {
  constexpr int kRounds = 200;
  int counted = 0;
  for (int round = 0; round < kRounds; ++round) {
    internal::FleetBreaker breaker(clock_, Random(1), [] {});
    breaker.Use();
    std::thread caller([&breaker = breaker.breaker()] {
      while (breaker.state() == BreakerState::kDisabled) std::this_thread::yield();
      breaker.TryEnter()->Finish(Outcome::kError);
    });
    breaker.Configure(BreakerPolicy().breaker);
    caller.join();
    counted += static_cast<int>(breaker.Report(clock_.Now())->evidence.failed);
  }
  EXPECT_EQ(counted, kRounds);
}

TEST_F(BreakerFleetTest, WhereAnOperatorHasSpokenNobodyProbesForTheFleet) {
  Join(3);
  fleet_[0]->breaker().Force(BreakerState::kForcedOpen);
  broken_ = true;
  for (int i = 0; i < 1000 && Row()->view == BreakerView::kClosed; ++i) Pass(kStep);
  ASSERT_NE(Row()->view, BreakerView::kClosed);
  for (int i = 0; i < 2000; ++i) {
    Pass(kStep);
    ASSERT_NE(Row()->prober, InstanceId("i0"));
  }
  broken_ = false;
  Pass(absl::Seconds(8));
  EXPECT_EQ(CountIn(BreakerState::kClosed), 2);
  EXPECT_EQ(CountIn(BreakerState::kForcedOpen), 1);
}

TEST_F(BreakerFleetTest, APolicyWithoutABreakerLetsEverythingPass) {
  Join(2);
  Policy without = BreakerPolicy();
  without.breaker.reset();
  driver_->Apply(PolicyEvent{Policies({without})});
  Pass(absl::Seconds(2));
  broken_ = true;
  Pass(absl::Seconds(10));
  EXPECT_EQ(CountIn(BreakerState::kDisabled), 2);
  EXPECT_FALSE(Row().has_value());
}

}  // namespace
}  // namespace plimsoll
