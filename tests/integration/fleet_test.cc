// A controller, replicas with the agent library, and a provider that counts, each a real process or
// a real server: what happens while they start, die and return. Whatever it is, the provider never
// sees more calls than the quota.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/controller_process.h"
#include "agent/examples/demo/fleet.h"
#include "agent/examples/demo/provider.h"
#include "agent/examples/demo/setup.h"
#include "agent/examples/demo/temporary_folder.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::demo {
namespace {

const std::string kControllerBinary = std::string(PLIMSOLL_BIN_DIR) + "/plimsoll-controller";
// Enough for every hold to run out on a slow machine.
constexpr absl::Duration kPatience = absl::Seconds(15);

class FleetTest : public testing::Test {
 protected:
  FleetTest()
      : provider_(ProviderModel{}, kQuota, 1),
        controller_(kControllerBinary, folder_.path(), DemoConfig()) {}

  void SetUp() override {
    ASSERT_TRUE(provider_.Start().ok());
    StartController();
    fleet_ = std::make_unique<Fleet>(FleetOptions{std::string(PLIMSOLL_BIN_DIR) + "/plimsoll-demo",
                                                  provider_.port(), controller_.agent_port(), 1});
  }

  void TearDown() override {
    fleet_->StopAll();
    EXPECT_LE(provider_.in_flight_max(), kQuota);
    EXPECT_EQ(provider_.violations(), 0);
  }

  void StartController() {
    const absl::Status status = controller_.Start();
    ASSERT_TRUE(status.ok()) << status;
  }

  void StartReplica(double calls_per_second = 120) {
    const std::string name = absl::StrCat("checkout-", fleet_->replicas().size());
    ASSERT_TRUE(fleet_->Start(name, calls_per_second).ok());
  }

  // Lets time pass until the condition holds; false if it does not within `timeout`.
  bool Until(const std::function<bool()>& condition, absl::Duration timeout = kPatience) {
    const Instant end = RealClock().Now() + timeout;
    while (RealClock().Now() < end) {
      const absl::Status status = fleet_->Read(absl::Milliseconds(10));
      EXPECT_TRUE(status.ok()) << status;
      if (condition()) return true;
    }
    return false;
  }
  void Pass(absl::Duration duration) {
    Until([] { return false; }, duration);
  }

  const Replica& replica(std::size_t index) const { return fleet_->replicas()[index]; }
  int limit(std::size_t index) const { return replica(index).total.limit; }
  int limits() const { return fleet_->Total().limit; }
  bool AllServe() const {
    return std::all_of(fleet_->replicas().begin(), fleet_->replicas().end(),
                       [](const Replica& r) { return r.has_succeeded; });
  }

  const TemporaryFolder folder_;
  Provider provider_;
  ControllerProcess controller_;
  std::unique_ptr<Fleet> fleet_;
};

TEST_F(FleetTest, ReplicasThatStartOneAfterAnotherShareTheQuota) {
  for (std::size_t i = 0; i < 6; ++i) {
    StartReplica();
    EXPECT_TRUE(Until([&] { return replica(i).has_succeeded; })) << "replica " << i;
  }
  // One call may be kept back for newcomers.
  EXPECT_TRUE(Until([&] { return limits() >= kQuota - 1; })) << "limits add up to " << limits();
}

TEST_F(FleetTest, TheBusyReplicaGetsTheLargerShare) {
  StartReplica(240);
  for (int i = 0; i < 5; ++i) StartReplica(80);
  EXPECT_TRUE(Until([&] {
    int others_max = 0;
    for (std::size_t i = 1; i < 6; ++i) others_max = std::max(others_max, limit(i));
    return AllServe() && limits() >= kQuota - 1 && limit(0) * 2 >= 3 * others_max;
  })) << "it has "
      << limit(0) << " of " << limits();
}

TEST_F(FleetTest, AKilledReplicaGetsItsShareBackUnderItsName) {
  for (int i = 0; i < 4; ++i) StartReplica();
  ASSERT_TRUE(Until([&] { return AllServe() && limits() >= kQuota - 1; }));
  // Its due is what equal traffic gives each of the four; a moment of luck may have given it more.
  const int due = std::min(limit(2), kQuota / 4);
  fleet_->Kill(2);
  ASSERT_TRUE(fleet_->Restart(2).ok());
  EXPECT_TRUE(Until([&] { return replica(2).has_succeeded && limit(2) * 2 >= due; }))
      << limit(2) << " of " << due;
}

TEST_F(FleetTest, TheShareOfADeadReplicaGoesToTheOthersWhenItsHoldHasRunOut) {
  for (int i = 0; i < 4; ++i) StartReplica();
  // It has a share that can be told from nothing.
  ASSERT_TRUE(Until([&] { return AllServe() && limits() >= kQuota - 1 && limit(2) > kQuota / 8; }));
  // It keeps its base for longer, and one call may be on its way.
  constexpr int kShareIsBack = kQuota - kFloor - 1;
  fleet_->Kill(2);
  // Its last sync was sent at most a hold before it died; its calls may run for a call deadline.
  Pass(kLease - kLease / 10 - absl::Milliseconds(200));
  EXPECT_LT(limits(), kShareIsBack) << "granted while its lease may have run";
  EXPECT_TRUE(Until([&] { return limits() >= kShareIsBack; })) << limits();
}

TEST_F(FleetTest, AReplicaThatDrainsGivesItsShareBackAtOnce) {
  for (int i = 0; i < 4; ++i) StartReplica();
  ASSERT_TRUE(Until([&] { return AllServe() && limits() >= kQuota - 1; }));
  fleet_->Terminate(3);
  // Before lease and call deadline could have run out.
  EXPECT_TRUE(Until([&] { return replica(3).process == nullptr && limits() >= kQuota - 1; },
                    kLease + kCallDeadline - absl::Milliseconds(500)))
      << limits();
  EXPECT_EQ(limit(3), 0);
}

TEST_F(FleetTest, LimitsOnlyFallWhileTheControllerIsDead) {
  for (int i = 0; i < 4; ++i) StartReplica();
  ASSERT_TRUE(Until([&] { return AllServe() && limits() >= kQuota - 1; }));
  controller_.Kill();
  Pass(absl::Milliseconds(300));  // what was on its way has arrived and is reported
  std::vector<int> lowest(4, kQuota);
  const bool stepped_down = Until([&] {
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_LE(limit(i), lowest[i]) << "replica " << i;
      lowest[i] = std::min(lowest[i], limit(i));
    }
    return limits() <= 4 * kFloor;
  });
  EXPECT_TRUE(stepped_down) << limits();
  EXPECT_GT(limits(), 0) << "the base is guaranteed";

  StartController();
  EXPECT_TRUE(Until([&] { return limits() >= kQuota - 1; })) << limits();
}

// Quick is a restart within half a lease. On a slow machine some are not, and are felt.
TEST_F(FleetTest, AQuickRestartOfTheControllerIsNotFelt) {
  const absl::Duration long_lease = 3 * kLease;
  controller_.Kill();
  controller_.set_config(DemoConfig(long_lease));
  StartController();
  for (int i = 0; i < 4; ++i) StartReplica();
  int quick = 0;
  for (int i = 0; i < 10 && quick < 3; ++i) {
    ASSERT_TRUE(Until([&] { return AllServe() && limits() >= kQuota - 1; })) << limits();
    const Instant began = RealClock().Now();
    controller_.Kill();
    StartController();
    Pass(absl::Milliseconds(500));
    if (RealClock().Now() - began > long_lease / 2) continue;
    ++quick;
    EXPECT_GE(limits(), kQuota / 2);
  }
  EXPECT_EQ(quick, 3);
  // What they have now is from the last controller.
  Pass(long_lease);
  EXPECT_GE(limits(), kQuota / 2);
}

TEST_F(FleetTest, ReplicasAdmitNothingUntilAControllerComes) {
  controller_.Kill();
  for (int i = 0; i < 3; ++i) StartReplica();
  Pass(absl::Seconds(1));
  EXPECT_EQ(provider_.calls(), 0);
  StartController();
  EXPECT_TRUE(Until([&] { return AllServe(); }));
}

TEST_F(FleetTest, TheControllerEndsCleanlyWhenAsked) {
  StartReplica();
  ASSERT_TRUE(Until([&] { return AllServe(); }));
  EXPECT_EQ(controller_.Terminate(), 0);
}

TEST_F(FleetTest, ASecondControllerOnTheSameStateIsRefused) {
  const std::string config = absl::StrCat(folder_.path(), "/second.yaml");
  std::ofstream(config) << absl::StrFormat(
      "listen: {api: \"127.0.0.1:0\", agents: \"127.0.0.1:0\"}\n"
      "state: {mode: embedded, dir: \"%s/state\"}\n",
      folder_.path());
  auto second =
      ChildProcess::Start({kControllerBinary, "--config", config}, folder_.path() + "/second.log");
  ASSERT_TRUE(second.ok());
  ASSERT_TRUE((*second)->WaitFor(absl::Seconds(10)));
  EXPECT_NE((*second)->exit_code(), 0);
  EXPECT_TRUE(controller_.Running());
}

int ExitOfCheckConfig(const std::string& text) {
  const TemporaryFolder folder;
  const std::string config = folder.path() + "/controller.yaml";
  std::ofstream(config) << text;
  auto process = ChildProcess::Start({kControllerBinary, "--check-config", "--config", config},
                                     folder.path() + "/log");
  if (!process.ok() || !(*process)->WaitFor(absl::Seconds(10))) return -1;
  return (*process)->exit_code().value_or(-1);
}

TEST(CheckConfigTest, ExitsWithSevenForAFileThatWouldNotDo) {
  EXPECT_EQ(ExitOfCheckConfig(DemoConfig()), 0);
  EXPECT_EQ(ExitOfCheckConfig("dependencies:\n  - name: db\n    celing: 3\n"), 7);
  EXPECT_EQ(ExitOfCheckConfig("dependencies: [\n"), 7);
}

}  // namespace
}  // namespace plimsoll::demo
