// The runbook RestoringFromBackup, for etcd: a snapshot is saved and restored with etcdctl, and the
// controller that starts with it is told that it is old.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/controller_process.h"
#include "agent/examples/demo/temporary_folder.h"
#include "tests/integration/chaos/control_plane.h"
#include "tests/integration/etcd_process.h"
#include "tests/integration/waiting.h"
#include "tests/integration/watched_fleet.h"

namespace plimsoll {
namespace {

using demo::ChildProcess;

constexpr char kEtcdctl[] = "/usr/bin/etcdctl";
constexpr int kAgentPort = 7481;
constexpr int kApiPort = 7480;
constexpr char kConfig[] = R"(auth: {allow_anonymous: [viewer, agent]}
agents: {lease: 5s, hold_max: 200ms, tick: 50ms}
dependencies:
)";

class EtcdRestoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (chaos::EtcdProgram().empty() || !std::filesystem::exists(kEtcdctl)) {
      GTEST_SKIP() << "there is no etcd or no etcdctl: install etcd-server and etcd-client, as "
                      ".ci/setup does";
    }
    auto etcd = EtcdProcess::Start(path("etcd"));
    ASSERT_TRUE(etcd.ok()) << etcd.status();
    etcd_ = *std::move(etcd);
    controller_ = std::make_unique<demo::ControllerProcess>(
        demo::OwnFolder() + "/plimsoll-controller", folder_.path(),
        kConfig + FixedPolicy("db", absl::Seconds(8)), host_,
        absl::StrCat("{mode: etcd, etcd: {endpoints: [\"", etcd_->url(), "\"], lease: 2s}}"));
    controller_->set_ports(kAgentPort, kApiPort);
    ASSERT_TRUE(controller_->Start().ok());
  }
  void TearDown() override {
    fleet_.StopWatching();
    EXPECT_LE(fleet_.largest_sum(), kQuota);
  }

  // Returns whether it ended with status 0.
  bool Etcdctl(const std::vector<std::string>& arguments) {
    std::vector<std::string> command(1, kEtcdctl);
    command.insert(command.end(), arguments.begin(), arguments.end());
    const auto process = ChildProcess::Start(command, path("etcdctl.log"));
    return process.ok() && (*process)->WaitFor(absl::Seconds(20)) && (*process)->exit_code() == 0;
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  void StartAgent() {
    const absl::Status joined = fleet_.Join({absl::StrCat("http://", host_, ":", kAgentPort)});
    ASSERT_TRUE(joined.ok()) << joined;
  }
  int limit(std::size_t agent) const { return fleet_.limit(agent); }
  int Sum() const { return fleet_.Sum(); }

  bool Learns() const {
    const std::string metrics = Metrics();
    return metrics.find("\nplimsoll_controller_learning{dependency=\"db\"} 1") != std::string::npos;
  }
  bool Leads() const {
    return Metrics().find("\nplimsoll_controller_leader 1") != std::string::npos;
  }
  std::string Metrics() const;

  const demo::TemporaryFolder folder_;
  // An address of this process alone, so that ports are free.
  const std::string host_ = absl::StrCat("127.", 60 + ::getpid() / 60000, ".",
                                         ::getpid() / 250 % 250, ".", 1 + ::getpid() % 250);
  std::unique_ptr<EtcdProcess> etcd_;
  std::unique_ptr<demo::ControllerProcess> controller_;
  WatchedFleet fleet_{{"db"}};
};

std::string EtcdRestoreTest::Metrics() const {
  const auto curl = ChildProcess::Start(
      {"/usr/bin/curl", "-s", absl::StrCat("http://", host_, ":", kApiPort, "/metrics")},
      "/dev/null");
  if (!curl.ok()) return "";
  std::string text = "\n";
  bool running = true;
  while (running) {
    running = (*curl)->Running();
    for (const std::string& line : (*curl)->TakeLines()) absl::StrAppend(&text, line, "\n");
  }
  return text;
}

TEST_F(EtcdRestoreTest, AControllerThatIsToldOfItLearnsFromTheAgents) {
  StartAgent();
  ASSERT_TRUE(Until([&] { return limit(0) > 15; })) << limit(0);
  fleet_.Watch();
  ASSERT_TRUE(Etcdctl({"--endpoints", etcd_->url(), "snapshot", "save", path("backup.db")}));
  ASSERT_TRUE(Etcdctl({"snapshot", "status", path("backup.db")}));
  // The snapshot knows nothing of what this one is granted, nor that the first has less since.
  StartAgent();
  ASSERT_TRUE(Until([&] { return limit(1) > 5 && Sum() > 15; })) << limit(0) << " " << limit(1);

  ASSERT_EQ(controller_->Terminate(), 0);
  etcd_->Stop();
  std::filesystem::remove_all(etcd_->data());
  ASSERT_TRUE(Etcdctl({"snapshot", "restore", path("backup.db"), "--name", etcd_->name(),
                       "--data-dir", etcd_->data(), "--initial-cluster",
                       absl::StrCat(etcd_->name(), "=", etcd_->peer_url()),
                       "--initial-advertise-peer-urls", etcd_->peer_url()}));
  const absl::Status back = etcd_->Restart();
  ASSERT_TRUE(back.ok()) << back;
  controller_->set_arguments({"--state-lost"});
  ASSERT_TRUE(controller_->Start().ok());
  ASSERT_TRUE(Until([&] { return Leads(); }));
  EXPECT_TRUE(Learns());
  // Without its word from now on: that it learns stands in etcd.
  ASSERT_EQ(controller_->Terminate(), 0);
  controller_->set_arguments({});
  ASSERT_TRUE(controller_->Start().ok());
  ASSERT_TRUE(Until([&] { return Leads(); }));
  EXPECT_TRUE(Learns());

  const int held = Sum();
  StartAgent();
  while (limit(2) == 0 && Learns()) {
    EXPECT_LE(Sum(), std::max(held, kQuota));
    Pass(absl::Milliseconds(50));
  }
  // What /metrics tells is a moment old.
  Pass(absl::Seconds(1));
  EXPECT_FALSE(Learns()) << "a newcomer was given what the controller cannot know to be free";
  EXPECT_TRUE(Until([&] { return limit(2) > 2 && Sum() > 15; })) << limit(2) << " of " << Sum();
  EXPECT_GT(limit(0), 2);
  EXPECT_GT(limit(1), 2);
}

}  // namespace
}  // namespace plimsoll
