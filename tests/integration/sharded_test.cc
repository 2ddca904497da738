// Three controllers that share the shards of one etcd, and an agent with dependencies in several of
// them: who leads what while one dies and comes back. No sum exceeds its quota, and no limit steps
// down to its base.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/temporary_folder.h"
#include "plimsoll/agent/agent.h"
#include "plimsoll/core/shard.h"
#include "tests/integration/etcd_process.h"
#include "tests/integration/http_probe.h"

namespace plimsoll {
namespace {

using demo::ChildProcess;
using demo::TemporaryFolder;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr int kQuota = 20;
constexpr int kBase = 2;
constexpr int kControllers = 3;
constexpr int kShards = 6;
constexpr int kDependencies = 8;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string NameOf(int dependency) { return absl::StrCat("dep-", dependency); }

struct Controller {
  std::string name;
  std::unique_ptr<ChildProcess> process;
  std::uint16_t agents = 0;
  std::uint16_t api = 0;
  std::string folder;

  std::string log() const { return ReadFile(folder + "/log"); }
};

struct Owned {
  int controller = 0;
  std::int64_t epoch = 0;

  friend bool operator==(const Owned&, const Owned&) = default;
};
using Ownership = std::map<int, Owned>;  // by shard

class ShardedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (EtcdProcess::Path().empty()) {
      GTEST_SKIP() << "there is no etcd: install etcd-server, as .ci/setup does";
    }
    StartEtcd();
    for (int i = 0; i < kControllers; ++i) {
      controllers_.push_back({absl::StrCat("c", i), nullptr, 0, 0, ""});
      StartController(controllers_.back(), kShards);
    }
  }
  void TearDown() override {
    watching_ = false;
    if (watcher_.joinable()) watcher_.join();
    agents_.clear();
  }

  void StartEtcd() {
    auto etcd = EtcdProcess::Start(path("etcd"));
    ASSERT_TRUE(etcd.ok()) << etcd.status();
    etcd_ = *std::move(etcd);
  }

  void WriteConfig(const Controller& controller, int shards) {
    std::string text = absl::StrCat(
        "listen: {api: \"127.0.0.1:", controller.api, "\", agents: \"127.0.0.1:", controller.agents,
        "\"}\n", "state: {mode: etcd, etcd: {endpoints: [\"", etcd_->url(),
        "\"], lease: 2s, shards: ", shards, "}}\n",
        "agents: {lease: 10s, hold_max: 500ms, tick: 100ms}\n", "dependencies:\n");
    for (int i = 0; i < kDependencies; ++i) {
      absl::StrAppend(&text, "  - {name: ", NameOf(i), ", algorithm: fixed, initial: ", kQuota,
                      ", scope: fleet, floor: 1, ceiling: ", kQuota, ", quota: {capacity: ", kQuota,
                      "}, call_deadline: 1s, outage: {base: ", kBase, ", base_lease: 60s}}\n");
    }
    std::ofstream(controller.folder + "/config.yaml") << text;
  }
  void Launch(Controller& controller) {
    auto process = ChildProcess::Start(
        {std::string(PLIMSOLL_BIN_DIR) + "/plimsoll-controller", "--config",
         controller.folder + "/config.yaml", "--port-file=" + controller.folder + "/ports"},
        controller.folder + "/log");
    ASSERT_TRUE(process.ok()) << process.status();
    controller.process = *std::move(process);
  }
  void StartController(Controller& controller, int shards) {
    controller.folder = path(controller.name);
    std::filesystem::create_directory(controller.folder);
    std::filesystem::remove(controller.folder + "/ports");
    WriteConfig(controller, shards);
    Launch(controller);
    ASSERT_TRUE(Until([&] { return std::filesystem::exists(controller.folder + "/ports"); }))
        << controller.log();
    const Json ports = Json::parse(ReadFile(controller.folder + "/ports"));
    controller.agents = ports["agents"];
    controller.api = ports["api"];
  }

  // Two instances share each quota; what both hold is watched from then on.
  void StartAgents() {
    for (int i = 0; i < 2; ++i) {
      AgentOptions options;
      for (const Controller& controller : controllers_) {
        options.controllers.push_back(absl::StrCat("http://127.0.0.1:", controller.agents));
      }
      options.service = "shop";
      options.instance = absl::StrCat("shop-", i);
      options.log = [](std::string_view) {};
      absl::StatusOr<std::unique_ptr<Agent>> agent = Agent::Start(options);
      ASSERT_TRUE(agent.ok()) << agent.status();
      agents_.push_back(*std::move(agent));
      for (int d = 0; d < kDependencies; ++d) agents_.back()->bulkhead(NameOf(d));
    }
    ASSERT_TRUE(Until([this] { return Least() > kBase; })) << Least() << Logs();
    watching_ = true;
    watcher_ = std::thread([this] {
      while (watching_) {
        for (int d = 0; d < kDependencies; ++d) {
          int sum = 0;
          for (const auto& agent : agents_) sum += agent->bulkhead(NameOf(d)).limit();
          largest_ = std::max<int>(largest_, sum);
        }
        least_ = std::min<int>(least_, Least());
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    });
  }
  // The smallest limit of all.
  int Least() const {
    int least = kQuota;
    for (const auto& agent : agents_) {
      for (int d = 0; d < kDependencies; ++d) {
        least = std::min<int>(least, agent->bulkhead(NameOf(d)).limit());
      }
    }
    return least;
  }

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
  static Json AskJson(const Controller& controller, const std::string& target) {
    const Json json = Json::parse(BodyOf(Ask(controller, target)), nullptr, false);
    return json.is_object() ? json : Json::object();
  }

  // As the controllers that run say; empty unless each shard has exactly one owner, and those that
  // do not own it know who does.
  Ownership Look() const {
    Ownership owners;
    std::set<std::string> said;  // who owns what, by all of them
    for (std::size_t i = 0; i < controllers_.size(); ++i) {
      if (controllers_[i].process == nullptr) continue;
      const Json status = AskJson(controllers_[i], "/v1/status");
      for (const Json& shard : status.value("shards", Json::array())) {
        said.insert(
            absl::StrCat(shard["shard"].get<int>(), " ", shard["owner"].get<std::string>()));
        if (shard["role"] != "LEADER") continue;
        const bool first =
            owners.try_emplace(shard["shard"], Owned{static_cast<int>(i), shard["epoch"]}).second;
        if (!first) return {};
      }
    }
    return owners.size() == kShards && said.size() == kShards ? owners : Ownership();
  }
  static int CountOf(const Ownership& owners, int controller) {
    return static_cast<int>(std::count_if(owners.begin(), owners.end(), [&](const auto& one) {
      return one.second.controller == controller;
    }));
  }
  // Two shards each, and no more hand-overs to come.
  Ownership Balanced() {
    Ownership owners;
    Until([&] {
      owners = Look();
      for (int i = 0; i < kControllers; ++i) {
        if (CountOf(owners, i) != kShards / kControllers) return false;
      }
      return true;
    });
    return owners;
  }

  template <typename Condition>
  static bool Until(Condition condition) {
    for (int i = 0; i < 1200; ++i) {
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
  std::vector<std::unique_ptr<Agent>> agents_;
  std::thread watcher_;
  std::atomic<bool> watching_ = false;
  std::atomic<int> largest_ = 0;
  std::atomic<int> least_ = kQuota;
};

TEST_F(ShardedTest, ADeadControllersShardsMoveAndOnlyThose) {
  const Ownership before = Balanced();
  ASSERT_EQ(before.size(), static_cast<std::size_t>(kShards)) << Logs();
  StartAgents();
  ASSERT_EQ(Look(), before) << Logs();

  controllers_[0].process->Kill();
  controllers_[0].process.reset();
  Ownership after;
  ASSERT_TRUE(Until([&] { return !(after = Look()).empty(); })) << Logs();
  for (const auto& [shard, owned] : before) {
    if (owned.controller == 0) {
      EXPECT_NE(after[shard].controller, 0) << shard;
      EXPECT_GT(after[shard].epoch, owned.epoch) << shard;
    } else {
      EXPECT_EQ(after[shard], owned) << shard;
    }
  }
  // Longer than the lease from before could have lasted.
  Pass(absl::Seconds(11));
  EXPECT_GT(least_, kBase) << "a limit has stepped down" << Logs();

  StartController(controllers_[0], kShards);
  const Ownership again = Balanced();
  ASSERT_EQ(again.size(), static_cast<std::size_t>(kShards)) << Logs();
  int moved = 0;
  for (const auto& [shard, owned] : after) {
    if (again.at(shard) == owned) continue;
    ++moved;
    EXPECT_EQ(again.at(shard).controller, 0) << shard;
  }
  EXPECT_EQ(moved, kShards / kControllers);
  Pass(absl::Seconds(11));
  EXPECT_GT(least_, kBase) << "a limit has stepped down" << Logs();
  EXPECT_LE(largest_, kQuota);
  EXPECT_EQ(Look(), again) << "and there is peace";
}

TEST_F(ShardedTest, OperatorsFindEverythingFromAnywhere) {
  const Ownership owners = Balanced();
  ASSERT_EQ(owners.size(), static_cast<std::size_t>(kShards)) << Logs();
  std::set<std::string> seen;
  for (std::size_t i = 0; i < controllers_.size(); ++i) {
    const Controller& controller = controllers_[i];
    EXPECT_THAT(Ask(controller, "/metrics"), HasSubstr("\nplimsoll_controller_shards_owned 2\n"));
    const Json list = AskJson(controller, "/v1/dependencies");
    EXPECT_EQ(list["partial"], true);
    EXPECT_EQ(list["elsewhere"].size(), static_cast<std::size_t>(kShards - 2)) << list;
    for (const Json& item : list["items"]) EXPECT_TRUE(seen.insert(item["name"]).second) << item;
    for (int d = 0; d < kDependencies; ++d) {
      const Owned owned = owners.at(ShardOf(DependencyId(NameOf(d)), kShards));
      const std::string target = absl::StrCat("/v1/dependencies/", NameOf(d));
      const std::string answer = Ask(controller, target);
      if (owned.controller == static_cast<int>(i)) {
        EXPECT_EQ(StatusOf(answer), 200) << answer;
        continue;
      }
      EXPECT_EQ(StatusOf(answer), 307) << answer;
      const Controller& owner = controllers_[static_cast<std::size_t>(owned.controller)];
      EXPECT_THAT(answer, HasSubstr(absl::StrCat("http://127.0.0.1:", owner.api, target, "\r\n")));
    }
    HttpProbe agents(controller.agents);
    ASSERT_TRUE(agents.Send(Get("/v1/agent/shards")));
    const Json shards = Json::parse(BodyOf(agents.Receive()));
    EXPECT_EQ(shards["shards"], kShards);
    EXPECT_EQ(shards["leaders"].size(), static_cast<std::size_t>(kShards)) << shards;
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kDependencies));
}

TEST_F(ShardedTest, AnotherNumberOfShardsIsRefused) {
  ASSERT_EQ(Balanced().size(), static_cast<std::size_t>(kShards)) << Logs();
  for (const int shards : {1, 5}) {
    Controller other{absl::StrCat("other", shards), nullptr, 0, 0, path(absl::StrCat("o", shards))};
    std::filesystem::create_directory(other.folder);
    WriteConfig(other, shards);
    Launch(other);
    ASSERT_TRUE(other.process->WaitFor(absl::Seconds(20))) << other.log();
    EXPECT_EQ(other.process->exit_code(), 1);
    EXPECT_THAT(other.log(), HasSubstr("was made for 6 shards"));
  }
}

}  // namespace
}  // namespace plimsoll
