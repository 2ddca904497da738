// Three controllers that share the shards of one etcd, and an agent with dependencies in several of
// them: who leads what while one dies and comes back. No sum exceeds its quota, and no limit steps
// down to its base.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "plimsoll/core/shard.h"
#include "tests/integration/chaos/control_plane.h"
#include "tests/integration/elected_fixture.h"
#include "tests/integration/http_probe.h"
#include "tests/integration/waiting.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

constexpr int kShards = 6;
constexpr int kDependencies = 8;

std::string NameOf(int dependency) { return absl::StrCat("dep-", dependency); }

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (int i = 0; i < kDependencies; ++i) names.push_back(NameOf(i));
  return names;
}

struct Owned {
  int controller = 0;
  std::int64_t epoch = 0;

  friend bool operator==(const Owned&, const Owned&) = default;
};
using Ownership = std::map<int, Owned>;  // by shard

// Two instances share each quota.
class ShardedTest : public ElectedFixture {
 protected:
  ShardedTest() : ElectedFixture(Names(), kShards) {}
  void SetUp() override {
    if (chaos::EtcdProgram().empty()) {
      GTEST_SKIP() << "there is no etcd: install etcd-server, as .ci/setup does";
    }
    ElectedFixture::SetUp();
  }

  // As the controllers that run say; empty unless each shard has exactly one owner, and those that
  // do not own it know who does.
  Ownership Look() const {
    Ownership owners;
    std::set<std::string> said;  // who owns what, by all of them
    for (std::size_t i = 0; i < controllers_.size(); ++i) {
      if (!controllers_[i].process->Running()) continue;
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
  // As many shards each, of those that live, and no more hand-overs to come.
  Ownership Balanced(int live = kControllers) {
    Ownership owners;
    Until([&] {
      owners = Look();
      int fair = 0;
      for (int i = 0; i < kControllers; ++i) fair += CountOf(owners, i) == kShards / live ? 1 : 0;
      return fair == live;
    });
    return owners;
  }
};

TEST_F(ShardedTest, ADeadControllersShardsMoveAndOnlyThose) {
  const Ownership before = Balanced();
  ASSERT_EQ(before.size(), static_cast<std::size_t>(kShards)) << Logs();
  StartAgents(2);
  ASSERT_EQ(Look(), before) << Logs();

  controllers_[0].process->Kill();
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
  EXPECT_GT(fleet_.least(), kBase) << "a limit has stepped down" << Logs();

  // One of them may have been late, and been given later what it should have taken.
  after = Balanced(kControllers - 1);
  ASSERT_EQ(after.size(), static_cast<std::size_t>(kShards)) << Logs();

  StartController(controllers_[0]);
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
  EXPECT_GT(fleet_.least(), kBase) << "a limit has stepped down" << Logs();
  EXPECT_LE(fleet_.largest_sum(), kQuota);
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
      EXPECT_THAT(answer,
                  HasSubstr(absl::StrCat("http://127.0.0.1:", owner.api(), target, "\r\n")));
    }
    HttpProbe agents(controller.agents());
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
    const Controller other = MakeController(absl::StrCat("other", shards), shards);
    // It may have said where it listens before it asked etcd.
    other.process->Start().IgnoreError();
    ASSERT_TRUE(Until([&] { return !other.process->Running(); })) << other.log();
    EXPECT_EQ(other.process->Terminate(), 1);
    EXPECT_THAT(other.log(), HasSubstr("was made for 6 shards"));
  }
}

}  // namespace
}  // namespace plimsoll
