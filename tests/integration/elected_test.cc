// Three controllers that share an etcd, and an agent: who leads while they die, stop and return,
// and while etcd is away. The limit in force never exceeds the quota, and an election is over
// before the lease of what was granted ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/temporary_folder.h"
#include "plimsoll/agent/agent.h"
#include "plimsoll/core/clock.h"
#include "tests/integration/etcd_process.h"
#include "tests/integration/http_probe.h"

namespace plimsoll {
namespace {

using demo::ChildProcess;
using demo::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

constexpr int kQuota = 20;
constexpr int kBase = 2;
constexpr int kControllers = 3;
std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Controller {
  std::string name;
  std::unique_ptr<ChildProcess> process;
  std::uint16_t agents = 0;
  std::uint16_t api = 0;
  std::string folder;

  std::string log() const { return ReadFile(folder + "/log"); }
};

class ElectedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (EtcdProcess::Path().empty()) {
      GTEST_SKIP() << "there is no etcd: install etcd-server, as .ci/setup does";
    }
    StartEtcd();
    for (int i = 0; i < kControllers; ++i) {
      controllers_.push_back({absl::StrCat("c", i), nullptr, 0, 0, ""});
      StartController(controllers_.back());
    }
    StartAgent();
  }
  void TearDown() override {
    if (agent_ == nullptr) return;
    StopWatching();
    EXPECT_LE(largest_, kQuota);
    agent_.reset();
  }

  void StartEtcd() {
    auto etcd = EtcdProcess::Start(path("etcd"));
    ASSERT_TRUE(etcd.ok()) << etcd.status();
    etcd_ = *std::move(etcd);
  }

  void StartController(Controller& controller) {
    controller.folder = path(controller.name);
    std::filesystem::create_directory(controller.folder);
    std::filesystem::remove(controller.folder + "/ports");
    std::ofstream(controller.folder + "/config.yaml") << absl::StrCat(
        "listen: {api: \"127.0.0.1:", controller.api, "\", agents: \"127.0.0.1:", controller.agents,
        "\"}\n", "state: {mode: etcd, etcd: {endpoints: [\"", etcd_->url(), "\"], lease: 2s}}\n",
        "agents: {lease: 10s, hold_max: 500ms, tick: 100ms}\n",
        "dependencies:\n  - {name: db, algorithm: fixed, initial: ", kQuota,
        ", scope: fleet, floor: 1, ceiling: ", kQuota, ", quota: {capacity: ", kQuota,
        "}, call_deadline: 1s, outage: {base: ", kBase, ", base_lease: 60s}}\n");
    auto process = ChildProcess::Start(
        {std::string(PLIMSOLL_BIN_DIR) + "/plimsoll-controller", "--config",
         controller.folder + "/config.yaml", "--port-file=" + controller.folder + "/ports"},
        controller.folder + "/log");
    ASSERT_TRUE(process.ok()) << process.status();
    controller.process = *std::move(process);
    ASSERT_TRUE(Until([&] { return std::filesystem::exists(controller.folder + "/ports"); }))
        << controller.log();
    const Json ports = Json::parse(ReadFile(controller.folder + "/ports"));
    controller.agents = ports["agents"];
    controller.api = ports["api"];
  }

  void StartAgent() {
    AgentOptions options;
    for (const Controller& controller : controllers_) {
      options.controllers.push_back(absl::StrCat("http://127.0.0.1:", controller.agents));
    }
    options.service = "shop";
    options.instance = "shop-0";
    options.log = [](std::string_view) {};
    absl::StatusOr<std::unique_ptr<Agent>> agent = Agent::Start(options);
    ASSERT_TRUE(agent.ok()) << agent.status();
    agent_ = *std::move(agent);
    bulkhead_ = &agent_->bulkhead("db");
    ASSERT_TRUE(Until([this] { return limit() > kBase; })) << "limit " << limit() << Logs();
    watching_ = true;
    watcher_ = std::thread([this] {
      while (watching_) {
        const int now = limit();
        largest_ = std::max<int>(largest_, now);
        least_ = std::min<int>(least_, now);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    });
  }
  void StopWatching() {
    watching_ = false;
    if (watcher_.joinable()) watcher_.join();
  }
  // From now on.
  void WatchForDips() { least_ = kQuota; }

  // The rest of a request that sets an override.
  static std::string OverrideTo(int limit) {
    const absl::Time end = absl::Now() + absl::Hours(1);
    const std::string body =
        absl::StrCat("{\"limit\":", limit, ",\"reason\":\"test\",\"expire_time\":\"",
                     absl::FormatTime(absl::RFC3339_full, end, absl::UTCTimeZone()), "\"}");
    return absl::StrCat("Content-Length: ", body.size(), "\r\n\r\n", body);
  }

  int limit() const { return bulkhead_->limit(); }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string Logs() const {
    std::string logs;
    for (const Controller& controller : controllers_) {
      absl::StrAppend(&logs, "\n", controller.name, ":\n", controller.log());
    }
    return logs;
  }

  static std::string Ask(const Controller& controller, const std::string& target) {
    HttpProbe probe(controller.api);
    if (!probe.connected() || !probe.Send(Get(target))) return "";
    return probe.Receive();
  }
  static Json Status(const Controller& controller) {
    const Json status = Json::parse(BodyOf(Ask(controller, "/v1/status")), nullptr, false);
    return status.is_object() ? status : Json::object();
  }
  static bool Leads(const Controller& controller) {
    return Status(controller).value("role", "") == "LEADER";
  }
  static std::int64_t Epoch(const Controller& controller) {
    return Status(controller).value("epoch", std::int64_t{0});
  }
  // The one that leads, other than `not_this`; null if there is none within half a minute.
  Controller* Leader(const Controller* not_this = nullptr) {
    Controller* leader = nullptr;
    Until([&] {
      for (Controller& controller : controllers_) {
        if (&controller != not_this && controller.process != nullptr && Leads(controller)) {
          leader = &controller;
        }
      }
      return leader != nullptr;
    });
    return leader;
  }

  template <typename Condition>
  static bool Until(Condition condition) {
    for (int i = 0; i < 600; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }
  static void Pass(absl::Duration time) {
    std::this_thread::sleep_for(absl::ToChronoMilliseconds(time));
  }

  const TemporaryFolder folder_;
  std::unique_ptr<EtcdProcess> etcd_;
  std::vector<Controller> controllers_;
  std::unique_ptr<Agent> agent_;
  Bulkhead* bulkhead_ = nullptr;
  std::thread watcher_;
  std::atomic<bool> watching_ = false;
  std::atomic<int> largest_ = 0;
  std::atomic<int> least_ = kQuota;
};

TEST_F(ElectedTest, OneLeadsAndTheOthersSendThere) {
  Controller* const leader = Leader();
  ASSERT_NE(leader, nullptr) << Logs();
  EXPECT_THAT(Ask(*leader, "/metrics"), HasSubstr("\nplimsoll_controller_leader 1"));
  const std::string at = absl::StrCat("http://127.0.0.1:", leader->api);
  for (const Controller& controller : controllers_) {
    if (&controller == leader) continue;
    EXPECT_EQ(Status(controller)["role"], "STANDBY");
    EXPECT_EQ(Status(controller)["leader"], at);
    EXPECT_EQ(StatusOf(Ask(controller, "/readyz")), 200);
    EXPECT_THAT(Ask(controller, "/metrics"), HasSubstr("\nplimsoll_controller_leader 0"));
    const std::string sent = Ask(controller, "/v1/dependencies/db");
    EXPECT_EQ(StatusOf(sent), 307);
    EXPECT_THAT(sent, HasSubstr(absl::StrCat("Location: ", at, "/v1/dependencies/db\r\n")));
    HttpProbe agents(controller.agents);
    agents.Send("DELETE /v1/agent/sessions/1-1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const std::string refused = agents.Receive();
    EXPECT_EQ(StatusOf(refused), 421) << refused;
    EXPECT_THAT(refused,
                HasSubstr(absl::StrCat("\"leader\":\"http://127.0.0.1:", leader->agents, "\"")));
  }
}

TEST_F(ElectedTest, AKilledLeaderIsReplacedBeforeTheLeaseOfTheAgentEnds) {
  Controller* const former = Leader();
  ASSERT_NE(former, nullptr) << Logs();
  const std::int64_t epoch = Status(*former)["epoch"];
  WatchForDips();
  former->process->Kill();
  former->process.reset();
  Controller* const next = Leader(former);
  ASSERT_NE(next, nullptr) << Logs();
  EXPECT_GT(Status(*next)["epoch"], epoch);
  EXPECT_THAT(next->log(), HasSubstr("inherited_bounds=1"));
  // Longer than the lease from before could have lasted.
  Pass(absl::Seconds(11));
  EXPECT_GT(least_, kBase) << "the limit has stepped down" << Logs();
  EXPECT_GT(limit(), kBase);
  StartController(*former);
  EXPECT_TRUE(Until([&] { return Status(*former).value("role", "") == "STANDBY"; }));
}

TEST_F(ElectedTest, ALeaderThatWasStoppedNeverGrantsAfterIt) {
  Controller* const former = Leader();
  ASSERT_NE(former, nullptr) << Logs();
  const std::int64_t old_epoch = Epoch(*former);
  former->process->Signal(SIGSTOP);
  Controller* const next = Leader(former);
  ASSERT_NE(next, nullptr) << Logs();
  // Another quota, so that a grant of the former would be seen.
  HttpProbe probe(next->api);
  probe.Send(
      "PUT /v1/dependencies/db/override HTTP/1.1\r\nHost: localhost\r\n"
      "Content-Type: application/json\r\n" +
      OverrideTo(5));
  EXPECT_EQ(StatusOf(probe.Receive()), 201);
  ASSERT_TRUE(Until([this] { return limit() <= 5; })) << limit() << Logs();
  former->process->Signal(SIGCONT);
  for (int i = 0; i < 100; ++i) {
    EXPECT_LE(limit(), 5);
    Pass(absl::Milliseconds(30));
  }
  EXPECT_TRUE(Until([&] {
    return Status(*former).value("role", "") == "STANDBY" || Epoch(*former) > old_epoch;
  })) << former->log();
  EXPECT_NE(Leader(), nullptr) << Logs();
}

TEST_F(ElectedTest, WithoutEtcdNothingRisesAndAllGoesOnWhenItIsBack) {
  Controller* leader = Leader();
  ASSERT_NE(leader, nullptr) << Logs();
  etcd_->Kill();
  const int before = limit();
  for (int i = 0; i < 120; ++i) {
    EXPECT_LE(limit(), before);
    Pass(absl::Milliseconds(50));
  }
  for (Controller& controller : controllers_) EXPECT_TRUE(controller.process->Running());
  const absl::Status back = etcd_->Restart();
  ASSERT_TRUE(back.ok()) << back;
  ASSERT_NE(Leader(), nullptr) << Logs();
  EXPECT_TRUE(Until([this] { return limit() > kBase; })) << limit() << Logs();
}

TEST_F(ElectedTest, AnEtcdThatOnlyPausesDoesNotEndTheFleet) {
  ASSERT_NE(Leader(), nullptr) << Logs();
  etcd_->Signal(SIGSTOP);
  Pass(absl::Seconds(5));
  etcd_->Signal(SIGCONT);
  ASSERT_NE(Leader(), nullptr) << Logs();
  EXPECT_TRUE(Until([this] { return limit() > kBase; })) << limit() << Logs();
}

TEST_F(ElectedTest, WhoIsToldToStopHandsOverAtOnce) {
  Controller* const former = Leader();
  ASSERT_NE(former, nullptr) << Logs();
  const Instant begin = RealClock().Now();
  former->process->Signal(SIGTERM);
  ASSERT_TRUE(former->process->WaitFor(absl::Seconds(20)));
  EXPECT_EQ(former->process->exit_code(), 0) << former->log();
  former->process.reset();
  ASSERT_NE(Leader(former), nullptr) << Logs();
  EXPECT_LT(RealClock().Now() - begin, absl::Seconds(8));
}

TEST_F(ElectedTest, WhatOperatorsHaveSetOutlivesTheLeader) {
  Controller* const former = Leader();
  ASSERT_NE(former, nullptr) << Logs();
  HttpProbe probe(former->api);
  probe.Send(
      "PUT /v1/dependencies/db/override HTTP/1.1\r\nHost: localhost\r\n"
      "Content-Type: application/json\r\n" +
      OverrideTo(3));
  EXPECT_EQ(StatusOf(probe.Receive()), 201);
  former->process->Kill();
  former->process.reset();
  Controller* const next = Leader(former);
  ASSERT_NE(next, nullptr) << Logs();
  const Json view = Json::parse(BodyOf(Ask(*next, "/v1/dependencies/db")));
  EXPECT_EQ(view["override"]["limit"], 3) << view;
}

}  // namespace
}  // namespace plimsoll
