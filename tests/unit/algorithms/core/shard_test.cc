// Where a dependency belongs, and who should own its shard.
#include "plimsoll/core/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::UnorderedElementsAreArray;

std::vector<std::string> Members(int count) {
  std::vector<std::string> members;
  for (int i = 0; i < count; ++i) {
    members.push_back(absl::StrCat("controller-", i));
  }
  return members;
}

std::string First(int shard, const std::vector<std::string>& members) {
  return PreferredOwners(shard, members).front();
}

// Agents and controllers of all versions compute these. A change of one of them would give the
// quota of a dependency away twice.
TEST(ShardTest, GoldenValues) {
  EXPECT_EQ(StableHash(""), 0xf52a15e9a9b5e89bU);
  EXPECT_EQ(StableHash("payments"), 0x6570b2129171541fU);
  EXPECT_EQ(ShardOf(DependencyId("payments"), 2), 0);
  EXPECT_EQ(ShardOf(DependencyId("payments"), 6), 2);
  EXPECT_EQ(ShardOf(DependencyId("payments"), 64), 25);
  EXPECT_EQ(ShardOf(DependencyId("db"), 64), 39);
  EXPECT_EQ(ShardOf(DependencyId("orders-7"), 64), 5);
  EXPECT_THAT(PreferredOwners(0, {"a", "b", "c"}), ElementsAre("b", "c", "a"));
  EXPECT_THAT(PreferredOwners(1, {"a", "b", "c"}), ElementsAre("a", "c", "b"));
}

TEST(ShardTest, OneShardHasAll) {
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(ShardOf(DependencyId(absl::StrCat("d", i)), 1), 0);
  }
}

TEST(ShardTest, DependenciesAreSpreadEvenly) {
  for (const int shards : {2, 6, 64}) {
    std::map<int, int> counts;
    for (int i = 0; i < 6400; ++i) ++counts[ShardOf(DependencyId(absl::StrCat("api-", i)), shards)];
    EXPECT_EQ(counts.size(), static_cast<std::size_t>(shards));
    for (const auto& [shard, count] : counts) {
      EXPECT_THAT(shard, testing::AllOf(Ge(0), Le(shards - 1)));
      EXPECT_GT(count, 6400 / shards / 2) << shard << " of " << shards;
      EXPECT_LT(count, 6400 / shards * 2) << shard << " of " << shards;
    }
  }
}

TEST(PreferredOwnersTest, AllMembersOnceInAnyOrderOfTheList) {
  std::vector<std::string> members = Members(5);
  const std::vector<std::string> order = PreferredOwners(3, members);
  EXPECT_THAT(order, UnorderedElementsAreArray(members));
  std::reverse(members.begin(), members.end());
  EXPECT_EQ(PreferredOwners(3, members), order);
  EXPECT_THAT(PreferredOwners(3, {"a", "a"}), ElementsAre("a"));
  EXPECT_THAT(PreferredOwners(3, {}), IsEmpty());
}

constexpr int kShards = 64;

// Of them each of four should have 16.
TEST(PreferredOwnersTest, ShardsAreSpreadOverTheMembers) {
  std::map<std::string, int> counts;
  for (int shard = 0; shard < kShards; ++shard) ++counts[First(shard, Members(4))];
  EXPECT_EQ(counts.size(), 4U);
  for (const auto& [member, count] : counts) {
    EXPECT_GE(count, 8) << member;
    EXPECT_LE(count, 26) << member;
  }
}

TEST(PreferredOwnersTest, WhoJoinsTakesOnlyWhatIsItsOwn) {
  const std::vector<std::string> before = Members(4);
  const std::vector<std::string> after = Members(5);
  int moved = 0;
  for (int shard = 0; shard < kShards; ++shard) {
    if (First(shard, before) == First(shard, after)) continue;
    ++moved;
    EXPECT_EQ(First(shard, after), "controller-4") << shard;
  }
  EXPECT_GE(moved, 5);
  EXPECT_LE(moved, 24);
}

TEST(PreferredOwnersTest, WhoLeavesGivesItsOwnToWhoeverIsNext) {
  const std::vector<std::string> before = Members(5);
  std::vector<std::string> after = before;
  after.erase(after.begin() + 2);
  for (int shard = 0; shard < kShards; ++shard) {
    const std::vector<std::string> order = PreferredOwners(shard, before);
    const std::string expected = order[0] == "controller-2" ? order[1] : order[0];
    EXPECT_EQ(First(shard, after), expected) << shard;
  }
}

}  // namespace
}  // namespace plimsoll
