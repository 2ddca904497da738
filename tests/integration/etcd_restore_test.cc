// The runbook RestoringFromBackup, for etcd: a snapshot is saved and restored with etcdctl, and the
// controller that starts with it is told that it is old.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/controller_process.h"
#include "agent/examples/demo/temporary_folder.h"
#include "plimsoll/agent/agent.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/store/etcd_client.h"
#include "tests/integration/chaos/control_plane.h"
#include "tests/integration/chaos/etcd_member.h"

namespace plimsoll {
namespace {

using chaos::EtcdMember;
using demo::ChildProcess;

constexpr int kQuota = 20;
constexpr char kEtcdctl[] = "/usr/bin/etcdctl";
constexpr int kAgentPort = 7481;
constexpr int kApiPort = 7480;
constexpr char kConfig[] = R"(auth: {allow_anonymous: [viewer, agent]}
agents: {lease: 5s, hold_max: 200ms, tick: 50ms}
dependencies:
  - {name: db, algorithm: fixed, initial: 20, scope: fleet, floor: 1, ceiling: 20,
     quota: {capacity: 20}, call_deadline: 1s, outage: {base: 2, base_lease: 8s}}
)";

class EtcdRestoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (chaos::EtcdProgram().empty() || !std::filesystem::exists(kEtcdctl)) {
      GTEST_SKIP() << "there is no etcd or no etcdctl: install etcd-server and etcd-client, as "
                      ".ci/setup does";
    }
    StartEtcd("etcd");
    controller_ = std::make_unique<demo::ControllerProcess>(
        absl::StrCat(PLIMSOLL_BIN_DIR, "/plimsoll-controller"), folder_.path(), kConfig, host_,
        absl::StrCat("{mode: etcd, etcd: {endpoints: [\"", Url(), "\"], lease: 2s}}"));
    controller_->set_ports(kAgentPort, kApiPort);
    ASSERT_TRUE(controller_->Start().ok());
  }
  void TearDown() override {
    watching_ = false;
    if (watcher_.joinable()) watcher_.join();
    EXPECT_LE(largest_sum_, kQuota);
  }

  std::string Url() const { return absl::StrCat("http://", host_, ":", chaos::kEtcdClientPort); }
  chaos::EtcdAddress Address() const { return {name_, host_, host_, host_}; }
  // `name` is that of its folder as well.
  void StartEtcd(const std::string& name) {
    name_ = name;
    etcd_ = std::make_unique<EtcdMember>(0, std::vector<chaos::EtcdAddress>{Address()},
                                         folder_.path(), false);
    ASSERT_TRUE(etcd_->Start().ok());
    const std::unique_ptr<Etcd> client =
        MakeEtcdClient({.endpoints = {Url()}}, absl::Seconds(1), RealClock());
    ASSERT_TRUE(Until([&] { return client->Range({.key = "x"}).ok(); }));
  }
  // Returns whether it ended with status 0.
  bool Etcdctl(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), kEtcdctl);
    const auto process = ChildProcess::Start(arguments, path("etcdctl.log"));
    return process.ok() && (*process)->WaitFor(absl::Seconds(20)) && (*process)->exit_code() == 0;
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  Agent& StartAgent() {
    AgentOptions options;
    options.controllers = {absl::StrCat("http://", host_, ":", kAgentPort)};
    options.service = "shop";
    options.instance = absl::StrCat("shop-", agents_.size());
    options.log = [](std::string_view) {};
    agents_.push_back(*Agent::Start(options));
    bulkheads_[agents_.size() - 1] = &agents_.back()->bulkhead("db");
    return *agents_.back();
  }
  int limit(std::size_t agent) const {
    const Bulkhead* bulkhead = bulkheads_[agent];
    return bulkhead == nullptr ? 0 : bulkhead->limit();
  }
  int Sum() const { return limit(0) + limit(1) + limit(2); }
  void Watch() {
    watching_ = true;
    watcher_ = std::thread([this] {
      while (watching_) {
        largest_sum_ = std::max<int>(largest_sum_, Sum());
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    });
  }

  bool Learns() const {
    const std::string metrics = Metrics();
    return metrics.find("\nplimsoll_controller_learning{dependency=\"db\"} 1") != std::string::npos;
  }
  bool Leads() const {
    return Metrics().find("\nplimsoll_controller_leader 1") != std::string::npos;
  }
  std::string Metrics() const;

  template <typename Condition>
  static bool Until(Condition condition) {
    for (int i = 0; i < 600; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }

  const demo::TemporaryFolder folder_;
  // An address of this process alone, so that ports are free.
  const std::string host_ = absl::StrCat("127.", 60 + ::getpid() / 60000, ".",
                                         ::getpid() / 250 % 250, ".", 1 + ::getpid() % 250);
  std::string name_;
  std::unique_ptr<EtcdMember> etcd_;
  std::unique_ptr<demo::ControllerProcess> controller_;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::atomic<Bulkhead*> bulkheads_[3] = {};
  std::thread watcher_;
  std::atomic<bool> watching_ = false;
  std::atomic<int> largest_sum_ = 0;
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
  Watch();
  ASSERT_TRUE(Etcdctl({"--endpoints", Url(), "snapshot", "save", path("backup.db")}));
  ASSERT_TRUE(Etcdctl({"snapshot", "status", path("backup.db")}));
  // The snapshot knows nothing of what this one is granted, nor that the first has less since.
  StartAgent();
  ASSERT_TRUE(Until([&] { return limit(1) > 5 && Sum() > 15; })) << limit(0) << " " << limit(1);

  ASSERT_EQ(controller_->Terminate(), 0);
  etcd_->Stop();
  ASSERT_TRUE(Etcdctl({"snapshot", "restore", path("backup.db"), "--name", "restored", "--data-dir",
                       path("restored"), "--initial-cluster",
                       absl::StrCat("restored=http://", host_, ":", chaos::kEtcdPeerPort),
                       "--initial-advertise-peer-urls",
                       absl::StrCat("http://", host_, ":", chaos::kEtcdPeerPort)}));
  StartEtcd("restored");
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
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  // What /metrics tells is a moment old.
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_FALSE(Learns()) << "a newcomer was given what the controller cannot know to be free";
  EXPECT_TRUE(Until([&] { return limit(2) > 2 && Sum() > 15; })) << limit(2) << " of " << Sum();
  EXPECT_GT(limit(0), 2);
  EXPECT_GT(limit(1), 2);
}

}  // namespace
}  // namespace plimsoll
