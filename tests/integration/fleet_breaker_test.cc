// The breaker of a fleet with a real controller over real HTTP: open everywhere on what nobody saw
// enough of alone, one probe for all, closed everywhere; and each alone without the controller.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "agent/examples/demo/controller_process.h"
#include "agent/examples/demo/temporary_folder.h"
#include "plimsoll/agent/agent.h"
#include "plimsoll/agent/breaker.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::demo {
namespace {

constexpr int kInstances = 4;
constexpr int kFailuresToOpen = 2 * kInstances;
constexpr absl::Duration kCoolOff = absl::Milliseconds(300);
constexpr absl::Duration kPatience = absl::Seconds(15);

std::string Config() {
  return absl::StrCat(R"(agents: {lease: 2s, hold_max: 200ms, sync_min: 20ms, tick: 50ms}
dependencies:
  - name: payments-api
    algorithm: fixed
    initial: 40
    quota: {capacity: 40}
    call_deadline: 1s
    breaker:
      consecutive_failures: )",
                      kFailuresToOpen, R"(
      cool_off: 300ms
      cool_off_max: 300ms
      cool_off_growth: 1
      cool_off_jitter: 0
      probe_deadline: 1s
)");
}

class FleetBreakerTest : public testing::Test {
 protected:
  FleetBreakerTest()
      : controller_(std::string(PLIMSOLL_BIN_DIR) + "/plimsoll-controller", folder_.path(),
                    Config()) {}

  void SetUp() override {
    const absl::Status started = controller_.Start();
    ASSERT_TRUE(started.ok()) << started;
    for (int i = 0; i < kInstances; ++i) {
      AgentOptions options;
      options.controllers = {absl::StrCat("http://127.0.0.1:", controller_.agent_port())};
      options.service = "checkout";
      options.log = [](std::string_view) {};
      absl::StatusOr<std::unique_ptr<Agent>> agent = Agent::Start(options);
      ASSERT_TRUE(agent.ok()) << agent.status();
      breakers_.push_back(&(*agent)->breaker("payments-api"));
      agents_.push_back(*std::move(agent));
    }
    // Before the policy is known everything passes, and nothing is counted.
    ASSERT_TRUE(Until([&] { return InState(BreakerState::kClosed) == kInstances; }));
  }

  // One call. False if the breaker refused it.
  bool Call(int instance) {
    BreakerEntry entry = breakers_[static_cast<std::size_t>(instance)]->TryEnter();
    if (!entry) return false;
    entry->Finish(healthy_ ? Outcome::kSuccess : Outcome::kError);
    return true;
  }
  // A call at every instance. How many were let through.
  int CallAll() {
    int passed = 0;
    for (int i = 0; i < kInstances; ++i) passed += Call(i) ? 1 : 0;
    return passed;
  }

  int InState(BreakerState state) const {
    int count = 0;
    for (const Breaker* breaker : breakers_) count += breaker->state() == state ? 1 : 0;
    return count;
  }

  static bool Until(const std::function<bool()>& condition) {
    const Instant end = RealClock().Now() + kPatience;
    while (RealClock().Now() < end) {
      if (condition()) return true;
      absl::SleepFor(absl::Milliseconds(5));
    }
    return false;
  }

  // Everybody has seen two failures, which is enough for the fleet and for nobody alone. While one
  // probes it is not open.
  void OpenEverywhere() {
    healthy_ = false;
    CallAll();
    CallAll();
    ASSERT_TRUE(Until([&] {
      return InState(BreakerState::kOpen) + InState(BreakerState::kHalfOpen) == kInstances;
    })) << InState(BreakerState::kClosed)
        << " are closed";
  }

  const TemporaryFolder folder_;
  ControllerProcess controller_;
  bool healthy_ = true;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::vector<Breaker*> breakers_;
};

TEST_F(FleetBreakerTest, OpensEverywhereOnWhatNobodySawEnoughOfAlone) { OpenEverywhere(); }

TEST_F(FleetBreakerTest, OneInstanceProbesForAll) {
  OpenEverywhere();
  const Instant began = RealClock().Now();
  int probes = 0;
  ASSERT_TRUE(Until([&] { return (probes += CallAll()) >= 3; })) << probes << " probes";
  // Each of them began a new cool-off for everybody.
  EXPECT_LE(probes, 1 + (RealClock().Now() - began) / kCoolOff);
}

TEST_F(FleetBreakerTest, AProbeThatPassesClosesEverywhere) {
  OpenEverywhere();
  healthy_ = true;
  int passed = 0;
  EXPECT_TRUE(Until([&] {
    passed += CallAll();
    return InState(BreakerState::kClosed) == kInstances;
  })) << InState(BreakerState::kClosed)
      << " are closed, " << passed << " calls passed";
}

TEST_F(FleetBreakerTest, WithoutTheControllerEachGoesOnAlone) {
  controller_.Kill();
  healthy_ = false;
  for (int i = 0; i < kFailuresToOpen; ++i) EXPECT_TRUE(Call(0));
  EXPECT_EQ(breakers_[0]->state(), BreakerState::kOpen);
  EXPECT_EQ(InState(BreakerState::kClosed), kInstances - 1);
  healthy_ = true;
  EXPECT_TRUE(Until([&] { return Call(0); })) << "it never probed";
  EXPECT_EQ(breakers_[0]->state(), BreakerState::kClosed);
}

}  // namespace
}  // namespace plimsoll::demo
