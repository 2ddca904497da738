// What operators see of two controllers that share the shards of one etcd: an instance is evicted
// from all of them, each says what it leaves out, and a shard that nobody leads shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/temporary_folder.h"
#include "plimsoll/agent/agent.h"
#include "tests/integration/chaos/control_plane.h"
#include "tests/integration/cli_program.h"
#include "tests/integration/etcd_process.h"
#include "tests/integration/http_probe.h"
#include "tests/integration/waiting.h"

namespace plimsoll {
namespace {

using demo::ChildProcess;
using demo::TemporaryFolder;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr int kControllers = 2;
constexpr int kShards = 4;
constexpr int kDependencies = 8;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Controller {
 public:
  Controller(const std::string& folder, const std::string& etcd) : folder_(folder) {
    std::filesystem::create_directory(folder);
    std::ofstream(folder + "/config.yaml")
        << "listen: {api: \"127.0.0.1:0\", agents: \"127.0.0.1:0\"}\n"
        << "state: {mode: etcd, etcd: {endpoints: [\"" << etcd
        << "\"], lease: 5s, shards: " << kShards << "}}\n"
        << "agents: {hold_max: 500ms, tick: 100ms}\n"
        << "dependencies:\n  - {match: \"dep-*\", quota: {capacity: 20}, call_deadline: 1s}\n";
    auto process =
        ChildProcess::Start({std::string(PLIMSOLL_BIN_DIR) + "/plimsoll-controller", "--config",
                             folder + "/config.yaml", "--port-file=" + folder + "/ports"},
                            folder + "/log");
    if (!process.ok()) return;
    process_ = *std::move(process);
    if (!Until([&] { return std::filesystem::exists(folder + "/ports"); })) return;
    const Json ports = Json::parse(ReadFile(folder + "/ports"));
    agents_ = ports["agents"];
    api_ = ports["api"];
  }

  void Kill() { process_.reset(); }

  // The whole response.
  std::string Ask(const std::string& method, const std::string& target) const {
    HttpProbe probe(api_);
    const bool sent = probe.connected() && probe.Send(absl::StrCat(method, " ", target,
                                                                   " HTTP/1.1\r\nHost: 127.0.0.1"
                                                                   "\r\n\r\n"));
    return sent ? probe.Receive() : "";
  }
  Json AskJson(const std::string& target) const {
    const Json json = Json::parse(BodyOf(Ask("GET", target)), nullptr, false);
    return json.is_object() ? json : Json::object();
  }
  int shards_led() const {
    int led = 0;
    for (const Json& shard : AskJson("/v1/status").value("shards", Json::array())) {
      if (shard["role"] == "LEADER") ++led;
    }
    return led;
  }
  // With this value, as /metrics says.
  int shards_with_leader(int value) const {
    const std::string page = BodyOf(Ask("GET", "/metrics"));
    int shards = 0;
    for (int i = 0; i < kShards; ++i) {
      const std::string line =
          absl::StrCat("\nplimsoll_controller_shard_has_leader{shard=\"", i, "\"} ", value, "\n");
      if (page.find(line) != std::string::npos) ++shards;
    }
    return shards;
  }
  // Of the only instance, one for each shard that it uses here.
  std::set<std::string> Sessions() const {
    std::set<std::string> sessions;
    for (const Json& row : AskJson("/v1/instances").value("items", Json::array())) {
      sessions.insert(row["session"].get<std::string>());
    }
    return sessions;
  }
  std::size_t evictions() const {
    std::size_t count = 0;
    for (const Json& record : AskJson("/v1/audit").value("items", Json::array())) {
      if (record.dump().find("EVICT_INSTANCE") != std::string::npos) ++count;
    }
    return count;
  }

  std::string url() const { return absl::StrCat("http://127.0.0.1:", api_); }
  std::string agents_url() const { return absl::StrCat("http://127.0.0.1:", agents_); }
  std::uint16_t api() const { return api_; }
  std::string log() const { return ReadFile(folder_ + "/log"); }

 private:
  const std::string folder_;
  std::unique_ptr<ChildProcess> process_;
  std::uint16_t agents_ = 0;
  std::uint16_t api_ = 0;
};

class ShardSurfaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (chaos::EtcdProgram().empty()) {
      GTEST_SKIP() << "there is no etcd: install etcd-server, as .ci/setup does";
    }
    auto etcd = EtcdProcess::Start(folder_.path() + "/etcd");
    ASSERT_TRUE(etcd.ok()) << etcd.status();
    etcd_ = *std::move(etcd);
    for (int i = 0; i < kControllers; ++i) {
      controllers_.push_back(
          std::make_unique<Controller>(absl::StrCat(folder_.path(), "/c", i), etcd_->url()));
      ASSERT_NE(controllers_.back()->api(), 0) << controllers_.back()->log();
    }
    ASSERT_TRUE(Until([this] { return IsShared(); })) << Logs();
  }

  // And each knows who leads what the other does.
  bool IsShared() const {
    for (const auto& controller : controllers_) {
      if (controller->shards_led() != kShards / kControllers) return false;
      if (controller->shards_with_leader(1) != kShards) return false;
    }
    return true;
  }
  // An instance with a session in each shard that some dependency is of.
  void StartAgent() {
    AgentOptions options;
    for (const auto& controller : controllers_) {
      options.controllers.push_back(controller->agents_url());
    }
    options.service = "shop";
    options.instance = "shop-0";
    options.log = [](std::string_view) {};
    absl::StatusOr<std::unique_ptr<Agent>> agent = Agent::Start(options);
    ASSERT_TRUE(agent.ok()) << agent.status();
    agent_ = *std::move(agent);
    for (int d = 0; d < kDependencies; ++d) agent_->bulkhead(absl::StrCat("dep-", d));
    ASSERT_TRUE(Until([this] {
      for (int d = 0; d < kDependencies; ++d) {
        if (agent_->bulkhead(absl::StrCat("dep-", d)).limit() == 0) return false;
      }
      return true;
    })) << Logs();
  }
  std::string Logs() const {
    std::string logs;
    for (const auto& controller : controllers_) absl::StrAppend(&logs, "\n", controller->log());
    return logs;
  }

  const TemporaryFolder folder_;
  std::unique_ptr<EtcdProcess> etcd_;
  std::vector<std::unique_ptr<Controller>> controllers_;
  std::unique_ptr<Agent> agent_;
};

TEST_F(ShardSurfaceTest, AnInstanceIsEvictedFromAllShards) {
  StartAgent();
  const std::set<std::string> first = controllers_[0]->Sessions();
  const std::set<std::string> second = controllers_[1]->Sessions();
  ASSERT_FALSE(first.empty() || second.empty()) << "each leads something that it uses" << Logs();

  const std::string answer = controllers_[0]->Ask("DELETE", "/v1/instances/shop-0");
  ASSERT_EQ(StatusOf(answer), 200) << answer << Logs();
  const Json said = Json::parse(BodyOf(answer));
  EXPECT_EQ(said["partial"], true);
  EXPECT_EQ(said["elsewhere"].size(), static_cast<std::size_t>(kShards / kControllers)) << Logs();
  for (const Json& shard : said["elsewhere"]) EXPECT_EQ(shard["api"], controllers_[1]->url());
  EXPECT_EQ(controllers_[0]->evictions(), first.size()) << Logs();
  EXPECT_EQ(controllers_[1]->evictions(), 0U);
  const std::string nobody = controllers_[0]->Ask("DELETE", "/v1/instances/nobody");
  EXPECT_EQ(StatusOf(nobody), 404) << nobody;
  EXPECT_EQ(Json::parse(BodyOf(nobody))["partial"], true);

  CliProgram cli(folder_.path());
  cli.set_environment("PLIMSOLL_ADDR=" + controllers_[0]->url());
  EXPECT_EQ(cli.Run("evict shop-0"), 0) << cli.error();
  EXPECT_THAT(cli.out(), HasSubstr("shop-0: evicted"));
  EXPECT_EQ(controllers_[1]->evictions(), second.size()) << Logs();
  EXPECT_EQ(cli.Run("evict nobody"), 3) << cli.error();
}

TEST_F(ShardSurfaceTest, AStreamBeginsWithWhatItLeavesOut) {
  HttpProbe probe(controllers_[0]->api());
  ASSERT_TRUE(probe.Send(Get("/v1/watch")));
  const std::string begin = probe.ReceiveUntil("\"elsewhere\":");
  EXPECT_THAT(begin, HasSubstr("event: partial\ndata: {\"partial\":true,\"elsewhere\":"));
}

// A controller dies while etcd is away: nobody can take over from it. Who lives still leads its
// own, as far as anybody can say.
TEST_F(ShardSurfaceTest, ShardsThatNobodyLeadsShow) {
  const Controller& left = *controllers_[0];
  etcd_->Kill();
  controllers_[1]->Kill();
  EXPECT_TRUE(Until([&] { return left.shards_with_leader(0) == kShards / kControllers; }))
      << Logs();
  EXPECT_EQ(left.shards_with_leader(1), kShards / kControllers);
  ASSERT_TRUE(etcd_->Restart().ok());
  EXPECT_TRUE(Until([&] { return left.shards_led() == kShards; })) << Logs();
  EXPECT_EQ(left.shards_with_leader(1), kShards);
}

}  // namespace
}  // namespace plimsoll
