// The controller as operators start it: its store, its words about the store, and SIGHUP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/temporary_folder.h"
#include "plimsoll/agent/agent.h"
#include "tests/integration/http_probe.h"

namespace plimsoll {
namespace {

using demo::ChildProcess;
using demo::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ControllerProcessTest : public ::testing::Test {
 protected:
  ControllerProcessTest() { WriteQuota("50"); }

  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string log() const { return ReadFile(path("log")); }

  void WriteConfig(const std::string& more) const {
    std::ofstream(path("config.yaml"))
        << "listen: {api: \"127.0.0.1:0\", agents: \"127.0.0.1:0\"}\n"
        << "state: {dir: \"" << path("state") << "\"}\n"
        << more;
  }
  void WriteQuota(const std::string& quota) const {
    WriteConfig("dependencies:\n  - {name: payments-api, quota: {capacity: " + quota + "}}\n");
  }

  std::unique_ptr<ChildProcess> Spawn(std::vector<std::string> arguments) const {
    std::vector<std::string> command = {std::string(PLIMSOLL_BIN_DIR) + "/plimsoll-controller",
                                        "--config", path("config.yaml")};
    command.insert(command.end(), arguments.begin(), arguments.end());
    auto process = ChildProcess::Start(command, path("log"));
    EXPECT_TRUE(process.ok()) << process.status();
    return process.ok() ? *std::move(process) : nullptr;
  }

  // Runs it to its end.
  int Run(const std::vector<std::string>& arguments) const {
    const std::unique_ptr<ChildProcess> process = Spawn(arguments);
    if (!process->WaitFor(absl::Seconds(20))) return -1;
    return process->exit_code().value_or(-1);
  }

  void Start(std::vector<std::string> arguments = {}) {
    std::filesystem::remove(path("ports"));
    arguments.push_back("--port-file=" + path("ports"));
    controller_ = Spawn(arguments);
    ASSERT_TRUE(Until([this] { return std::filesystem::exists(path("ports")); })) << log();
    port_ = Json::parse(ReadFile(path("ports")))["api"];
  }

  std::string Ask(const std::string& target) const {
    HttpProbe probe(port_);
    probe.Send(Get(target));
    return BodyOf(probe.Receive());
  }
  // The status of the answer.
  int Send(const std::string& method, const std::string& target, const std::string& body) const {
    HttpProbe probe(port_);
    std::string request = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n";
    if (!body.empty()) {
      request +=
          "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
          "\r\n";
    }
    probe.Send(request + "\r\n" + body);
    return StatusOf(probe.Receive());
  }
  int Quota() const {
    return Json::parse(Ask("/v1/dependencies/payments-api"))["quota"]["capacity"];
  }
  Json Status() const { return Json::parse(Ask("/v1/status")); }

  template <typename Condition>
  static bool Until(Condition condition) {
    // Below the rate limit of the API plane.
    for (int i = 0; i < 500; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(40));
    }
    return false;
  }

  const TemporaryFolder folder_;
  std::unique_ptr<ChildProcess> controller_;
  std::uint16_t port_ = 0;
};

TEST_F(ControllerProcessTest, SighupChangesAQuotaDownAndUp) {
  ASSERT_EQ(Run({"--init"}), 0);
  Start();
  EXPECT_EQ(Quota(), 50);
  const std::string hash = Status()["config"]["hash"];
  for (const int quota : {20, 80}) {
    WriteQuota(std::to_string(quota));
    controller_->Signal(SIGHUP);
    EXPECT_TRUE(Until([&] { return Quota() == quota; })) << log();
  }
  EXPECT_THAT(log(),
              AllOf(HasSubstr("payments-api: quota 50 -> 20"),
                    HasSubstr("payments-api: quota 20 -> 80"), HasSubstr("event=QUOTA_CHANGED")));
  EXPECT_TRUE(Until([&] { return Status()["config"]["hash"] != hash; }));
}

TEST_F(ControllerProcessTest, TheEmergencySwitchIsThrownAndTakenBackBySighup) {
  ASSERT_EQ(Run({"--init"}), 0);
  Start();
  const auto mode = [this] {
    const Json view = Json::parse(Ask("/v1/dependencies/payments-api"));
    return view["mode"].get<std::string>() + " " + view["status"]["mode"].get<std::string>();
  };
  EXPECT_EQ(mode(), "ENFORCE ENFORCE");
  EXPECT_EQ(Status()["observe_all"], false);
  WriteConfig(
      "observe_all: true\n"
      "dependencies:\n  - {name: payments-api, quota: {capacity: 50}}\n");
  controller_->Signal(SIGHUP);
  EXPECT_TRUE(Until([&] { return mode() == "ENFORCE OBSERVE"; })) << log();
  EXPECT_EQ(Status()["observe_all"], true);
  EXPECT_THAT(log(), HasSubstr("warning observe_all is on"));
  WriteQuota("50");
  controller_->Signal(SIGHUP);
  EXPECT_TRUE(Until([&] { return mode() == "ENFORCE ENFORCE"; })) << log();
  EXPECT_THAT(log(), HasSubstr("observe_all is off from now on."));
}

TEST_F(ControllerProcessTest, AnInvalidFileChangesNothingAndEveryFaultIsLogged) {
  ASSERT_EQ(Run({"--init"}), 0);
  Start();
  WriteConfig(
      "agents: {laese: 2s}\n"
      "dependencies:\n  - {name: payments-api, quota: {capacity: 0}, floor: -1}\n");
  controller_->Signal(SIGHUP);
  ASSERT_TRUE(Until([&] { return log().find("was not reloaded") != std::string::npos; }));
  EXPECT_THAT(log(), AllOf(HasSubstr("/agents/laese"), HasSubstr("capacity"), HasSubstr("floor")));
  EXPECT_EQ(Quota(), 50);
}

TEST_F(ControllerProcessTest, WhatNeedsARestartIsSaid) {
  ASSERT_EQ(Run({"--init"}), 0);
  Start();
  WriteConfig(
      "events: {keep: 77}\n"
      "dependencies:\n  - {name: payments-api, quota: {capacity: 20}}\n");
  controller_->Signal(SIGHUP);
  ASSERT_TRUE(Until([&] { return Quota() == 20; }));
  EXPECT_THAT(log(), HasSubstr("events.keep 10000 -> 77"));
}

TEST_F(ControllerProcessTest, TheConfigurationIsShownWithItsSourcesAndWhatWaits) {
  ASSERT_EQ(Run({"--init"}), 0);
  Start({"--log.level=debug"});
  const auto entry = [this](const std::string& key) {
    const Json config = Json::parse(Ask("/v1/config"));
    for (const Json& item : config["items"]) {
      if (item["key"] == key) return item;
    }
    return Json();
  };
  EXPECT_EQ(entry("log.level")["source"], "FLAG");
  EXPECT_EQ(entry("state.dir")["place"], path("config.yaml") + ":2:9");
  WriteConfig("events: {keep: 77}\ndependencies: []\n");
  controller_->Signal(SIGHUP);
  ASSERT_TRUE(Until([this] {
    return Json::parse(Ask("/v1/config"))["pending_restart"] == Json::parse(R"(["events.keep"])");
  })) << Ask("/v1/config");
  EXPECT_EQ(entry("events.keep")["value"], "10000");
}

TEST_F(ControllerProcessTest, ForDevelopmentItSaysWhereItListens) {
  Start({"--dev"});
  std::string said;
  EXPECT_TRUE(Until([&] {
    for (const std::string& line : controller_->TakeLines()) said += line + "\n";
    return said.find("REST   http://127.0.0.1:" + std::to_string(port_)) != std::string::npos;
  })) << said;
  EXPECT_EQ(Status()["state"], "MEMORY") << "the file says nothing of it";
}

TEST_F(ControllerProcessTest, ACheckReadsWhatIsIncludedAndEndsWithSeven) {
  std::filesystem::create_directory(path("conf.d"));
  WriteConfig("include: conf.d/*.yaml\n");
  std::ofstream(path("conf.d") + "/a.yaml") << "dependencies: [{name: a}]\n";
  const std::unique_ptr<ChildProcess> check = Spawn({"--check-config", "--strict"});
  ASSERT_TRUE(check->WaitFor(absl::Seconds(20)));
  EXPECT_EQ(check->exit_code(), 0);
  EXPECT_THAT(check->TakeLines(), ElementsAre(HasSubstr("valid, 1 dependency")));
  std::ofstream(path("conf.d") + "/a.yaml") << "dependencies: [{name: a, floor: 010}]\n";
  EXPECT_EQ(Run({"--check-config"}), 7);
  EXPECT_THAT(log(), HasSubstr("conf.d/a.yaml:1:26: /dependencies/0/floor: must be a whole"));
  EXPECT_EQ(Run({"config", "schema"}), 2) << "after the flags it is no command";
}

TEST_F(ControllerProcessTest, WhatWasChangedOverRestOutlivesAKill) {
  ASSERT_EQ(Run({"--init"}), 0);
  Start();
  EXPECT_EQ(Send("PUT", "/v1/dependencies/queue", R"({"quota":{"capacity":30},"floor":2})"), 201);
  const absl::Time end = absl::Now() + absl::Hours(1);
  EXPECT_EQ(Send("PUT", "/v1/dependencies/payments-api/override",
                 R"({"limit":3,"reason":"INC-12","expire_time":")" +
                     absl::FormatTime(absl::RFC3339_full, end, absl::UTCTimeZone()) + "\"}"),
            201);
  EXPECT_EQ(Send("DELETE", "/v1/dependencies/payments-api", ""), 409);
  controller_->Kill();
  controller_.reset();
  Start();
  const Json queue = Json::parse(Ask("/v1/dependencies/queue"));
  EXPECT_EQ(queue["quota"]["capacity"], 30);
  EXPECT_EQ(queue["origin"], "API");
  const Json pinned = Json::parse(Ask("/v1/dependencies/payments-api"))["override"];
  EXPECT_EQ(pinned["limit"], 3);
  EXPECT_EQ(pinned["reason"], "INC-12");
  EXPECT_THAT(log(), AllOf(HasSubstr("event=OVERRIDE_SET"), HasSubstr("what=PUT_OVERRIDE")));
}

TEST_F(ControllerProcessTest, TheFileIsReloadedAndRefusedOverRest) {
  ASSERT_EQ(Run({"--init"}), 0);
  Start();
  WriteQuota("20");
  EXPECT_EQ(Send("POST", "/v1/config:reload", ""), 200);
  EXPECT_EQ(Quota(), 20);
  WriteConfig("dependencies:\n  - {name: payments-api, celing: 3}\n");
  EXPECT_EQ(Send("POST", "/-/reload", ""), 400);
  EXPECT_EQ(Quota(), 20);
  const Json status = Json::parse(Ask("/v1/config/status"));
  EXPECT_EQ(status["last_load_ok"], false);
  EXPECT_EQ(status["errors"][0]["code"], "UNKNOWN_KEY");
  EXPECT_EQ(status["errors"][0]["line"], 4);
  EXPECT_EQ(Send("POST", "/v1/config:validate", "dependencies: []"), 200);
  EXPECT_EQ(Send("POST", "/v1/config:validate", "dependencies: 3"), 400);
  std::ofstream(path("more.yaml")) << "dependencies: [{name: more}]\n";
  EXPECT_EQ(Send("POST", "/v1/config:validate", "include: more.yaml"), 200);
  EXPECT_EQ(Send("POST", "/v1/config:validate", "include: ../more.yaml"), 400);
}

TEST_F(ControllerProcessTest, WithoutAnyConfigurationTheFirstAgentGetsALimit) {
  WriteConfig("");
  Start({"--dev"});
  const Json ports = Json::parse(ReadFile(path("ports")));
  AgentOptions options;
  options.controllers = {"http://127.0.0.1:" + std::to_string(ports["agents"].get<int>())};
  options.service = "shop";
  options.instance = "shop-0";
  const absl::StatusOr<std::unique_ptr<Agent>> agent = Agent::Start(options);
  ASSERT_TRUE(agent.ok()) << agent.status();
  EXPECT_TRUE(Until([&] { return (*agent)->bulkhead("any-db").TryAcquire().has_value(); }))
      << log();
  const Json shown = Json::parse(Ask("/v1/dependencies/any-db"));
  EXPECT_EQ(shown["origin"], "TEMPLATE") << shown;
  EXPECT_EQ(shown["template"], "*");
  EXPECT_THAT(log(), HasSubstr("event=DEPENDENCY_CREATED"));
}

TEST_F(ControllerProcessTest, AStoreThatWasMadeOnPurposeNeedsNoLearning) {
  ASSERT_EQ(Run({"--init"}), 0);
  EXPECT_EQ(Run({"--init"}), 1) << "a second time";
  Start();
  EXPECT_EQ(Status()["learning"], Json({{"active", false}}));
  EXPECT_THAT(log(), HasSubstr("store=NEW"));
}

TEST_F(ControllerProcessTest, AnEmptyDirectoryIsSaidToBeALossEverywhere) {
  Start();
  const Json learning = Status()["learning"];
  EXPECT_EQ(learning["active"], true);
  // Base lease and call deadline of the only policy, stretched.
  EXPECT_GT(learning["remaining_seconds"], 600);
  EXPECT_THAT(learning["why"], HasSubstr("--init"));
  EXPECT_THAT(Ask("/readyz?verbose"), HasSubstr("[~]learning ok: learning from agents for"));
  EXPECT_EQ(Ask("/readyz"), "ok\n");
  EXPECT_THAT(Ask("/metrics"),
              HasSubstr("plimsoll_controller_learning{dependency=\"payments-api\"} 1"));
  EXPECT_TRUE(Until([&] { return log().find("event=STORE_LOST") != std::string::npos; })) << log();
}

TEST_F(ControllerProcessTest, LearningBeginsAgainAfterARestartUntilTheOperatorVouches) {
  Start();
  controller_.reset();
  Start();
  EXPECT_EQ(Status()["learning"]["active"], true);
  controller_.reset();
  Start({"--trust-state"});
  EXPECT_EQ(Status()["learning"]["active"], false);
  controller_.reset();
  Start();
  EXPECT_EQ(Status()["learning"]["active"], false);
}

TEST_F(ControllerProcessTest, TheOperatorDeclaresAStoreLost) {
  ASSERT_EQ(Run({"--init"}), 0);
  Start({"--state-lost"});
  EXPECT_THAT(std::string(Status()["learning"]["why"]), HasSubstr("operator"));
}

TEST_F(ControllerProcessTest, ADamagedDatabaseIsMovedAsideAndServed) {
  ASSERT_EQ(Run({"--init"}), 0);
  std::ofstream(path("state") + "/plimsoll.db") << std::string(9000, 'x');
  Start();
  EXPECT_THAT(std::string(Status()["learning"]["why"]), HasSubstr("plimsoll.db.damaged-1"));
  EXPECT_TRUE(std::filesystem::exists(path("state") + "/plimsoll.db.damaged-1"));
}

TEST_F(ControllerProcessTest, WordsAboutAStateInMemoryAreRefused) {
  EXPECT_EQ(Run({"--init", "--state-lost"}), 2);
  std::ofstream(path("config.yaml")) << "state: {mode: memory}\ndependencies: []\n"
                                     << "listen: {api: \"127.0.0.1:0\", agents: \"127.0.0.1:0\"}\n";
  EXPECT_EQ(Run({"--init"}), 1);
  EXPECT_EQ(Run({"--trust-state"}), 1);
  EXPECT_THAT(log(), Not(HasSubstr("listening")));
}

}  // namespace
}  // namespace plimsoll
