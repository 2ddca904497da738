// Three controllers and three members of etcd, in network namespaces of their own: what a leader
// may do that the network alone has cut off from etcd, while agents reach it as before; and what
// one does that etcd hears, and agents cannot reach.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/temporary_folder.h"
#include "plimsoll/agent/agent.h"
#include "tests/integration/chaos/elected_plane.h"
#include "tests/integration/waiting.h"

namespace plimsoll::chaos {
namespace {

constexpr int kQuota = 20;
constexpr int kBase = 2;
constexpr char kConfig[] = R"(auth: {allow_anonymous: [viewer, agent]}
agents: {lease: 6s, hold_max: 200ms, tick: 50ms}
dependencies:
  - {name: db, algorithm: fixed, initial: 20, scope: fleet, floor: 1, ceiling: 20,
     quota: {capacity: 20}, call_deadline: 1s, outage: {base: 2, base_lease: 60s}}
)";

class ElectedNetworkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (EtcdProgram().empty()) {
      GTEST_SKIP() << "there is no etcd: install etcd-server, as .ci/setup does";
    }
    absl::Status alone = LeaveTheNetwork();
    if (alone.ok()) {
      absl::StatusOr<std::unique_ptr<ChaosNetwork>> network =
          ChaosNetwork::Make(PlacesFor(kControllers, kMembersOfEtcd), 1);
      alone = network.status();
      if (network.ok()) network_ = *std::move(network);
    }
    if (network_ == nullptr) GTEST_SKIP() << "no network of our own: " << alone;
    PlaneOptions options;
    options.programs = demo::OwnFolder();
    options.folder = folder_.path();
    options.network = network_.get();
    options.config = kConfig;
    options.controllers = kControllers;
    options.members = kMembersOfEtcd;
    options.timing = TimingOf(kControllers);
    plane_ = std::make_unique<ElectedPlane>(options);
    ASSERT_TRUE(plane_->Start().ok());
  }

  // In the namespace of a replica: its thread stays there.
  std::unique_ptr<Agent> StartAgent(int place, const std::vector<std::string>& controllers) {
    const InNamespace there(network_->place(place), network_->home());
    AgentOptions options;
    options.controllers = controllers;
    options.service = "shop";
    options.instance = absl::StrCat("shop-", place);
    options.log = [](std::string_view) {};
    absl::StatusOr<std::unique_ptr<Agent>> agent = Agent::Start(options);
    EXPECT_TRUE(agent.ok()) << agent.status();
    return agent.ok() ? *std::move(agent) : nullptr;
  }

  template <typename Condition>
  static bool Until(absl::Duration time, Condition condition) {
    return plimsoll::Until(time, condition, absl::Milliseconds(10));
  }

  // Cuts the leader off from agents, and not from etcd: another one leads, and no lease ends.
  void CutTheLeaderOffFromAgents(Way way);

  static constexpr int kControllers = 3;
  static constexpr int kMembersOfEtcd = 3;
  const demo::TemporaryFolder folder_;
  std::unique_ptr<ChaosNetwork> network_;
  std::unique_ptr<ElectedPlane> plane_;
};

TEST_F(ElectedNetworkTest, ALeaderCutOffFromEtcdAloneGrantsNothingAndAnotherTakesOver) {
  const std::vector<std::string> urls = plane_->Urls();
  const std::unique_ptr<Agent> agent = StartAgent(0, urls);
  Bulkhead& bulkhead = agent->bulkhead("db");
  ASSERT_TRUE(Until(absl::Seconds(20), [&] { return bulkhead.limit() > kBase; }));
  const int former = plane_->watch().controller().value();

  const Fault cut{FaultKind::kCutControllerFromEtcd, 0, 1, {former}};
  ASSERT_TRUE(plane_->Begin(cut).ok());
  // Knows the former leader only, which it reaches: what that grants is seen here.
  const std::unique_ptr<Agent> faithful = StartAgent(1, {urls[static_cast<std::size_t>(former)]});
  Bulkhead& cut_off = faithful->bulkhead("db");
  int least = kQuota;
  int granted = 0;
  const auto look = [&] {
    least = std::min(least, bulkhead.limit());
    granted = std::max(granted, cut_off.limit());
    return false;
  };
  EXPECT_TRUE(Until(absl::Seconds(6), [&] {
    look();
    return plane_->watch().controller() != former;
  })) << "nobody took over within the lease";
  // Longer than a lease from before could have lasted.
  Until(absl::Seconds(8), look);
  EXPECT_EQ(granted, 0);
  EXPECT_GT(least, kBase) << "the limit has stepped down";
  EXPECT_EQ(bulkhead.stats().stepped_down, 0);

  ASSERT_TRUE(plane_->Mend(cut).ok());
  EXPECT_TRUE(Until(absl::Seconds(10), [&] {
    look();
    return plane_->watch().role(former) == "STANDBY";
  }));
  EXPECT_EQ(granted, 0);
}

void ElectedNetworkTest::CutTheLeaderOffFromAgents(Way way) {
  const std::unique_ptr<Agent> agent = StartAgent(0, plane_->Urls());
  Bulkhead& bulkhead = agent->bulkhead("db");
  ASSERT_TRUE(Until(absl::Seconds(20), [&] { return bulkhead.limit() > kBase; }));
  int least = kQuota;
  const auto look = [&] {
    least = std::min(least, bulkhead.limit());
    return false;
  };
  Until(absl::Seconds(2), look);
  const int former = plane_->watch().controller().value();
  const int epochs = plane_->watch().epochs();

  Fault cut{FaultKind::kCutControllerFromAgents, 0, 1, {former}};
  cut.way = way;
  ASSERT_TRUE(plane_->Begin(cut).ok());
  EXPECT_TRUE(Until(absl::Seconds(6), [&] {
    look();
    return plane_->watch().controller() != former;
  })) << "nobody took over within the lease";
  EXPECT_TRUE(Until(absl::Seconds(3), [&] { return plane_->watch().role(former) == "STANDBY"; }));
  // Longer than a lease from before could have lasted.
  Until(absl::Seconds(9), look);
  EXPECT_GT(least, kBase) << "the limit has stepped down";
  EXPECT_EQ(bulkhead.stats().stepped_down, 0);
  EXPECT_EQ(plane_->watch().epochs(), epochs + 1) << "it changed hands once";

  ASSERT_TRUE(plane_->Mend(cut).ok());
  Until(absl::Seconds(2), look);
  EXPECT_EQ(plane_->watch().epochs(), epochs + 1) << "and stays where it is";
  EXPECT_EQ(bulkhead.stats().stepped_down, 0);
}

TEST_F(ElectedNetworkTest, ALeaderThatNoAgentReachesHandsOverBeforeLeasesEnd) {
  CutTheLeaderOffFromAgents(Way::kBoth);
}

TEST_F(ElectedNetworkTest, SoDoesOneWhoseAnswersAreLost) { CutTheLeaderOffFromAgents(Way::kFrom); }

TEST_F(ElectedNetworkTest, SoDoesOneThatIsAskedInVain) { CutTheLeaderOffFromAgents(Way::kTo); }

// All agents end at once, without a word: it changes hands once, and then it stays.
TEST_F(ElectedNetworkTest, WhenAllAgentsDieTheReignChangesHandsOnceAtMost) {
  {
    const std::unique_ptr<Agent> agent = StartAgent(0, plane_->Urls());
    Bulkhead& bulkhead = agent->bulkhead("db");
    ASSERT_TRUE(Until(absl::Seconds(20), [&] { return bulkhead.limit() > kBase; }));
    Until(absl::Seconds(2), [] { return false; });
    LinkState gone;
    gone.cut_from = gone.cut_to = true;
    network_->Set(0, Net::kControl, gone);  // so it cannot say goodbye
  }
  const int epochs = plane_->watch().epochs();
  Until(absl::Seconds(12), [] { return false; });
  EXPECT_EQ(plane_->watch().epochs(), epochs + 1);
}

}  // namespace
}  // namespace plimsoll::chaos
