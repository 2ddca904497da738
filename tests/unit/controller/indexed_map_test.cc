#include "controller/src/indexed_map.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "plimsoll/core/random.h"

namespace plimsoll::internal {
namespace {

using Map = IndexedMap<std::string, int>;

std::vector<std::pair<std::string, int>> Content(const Map& map) {
  std::vector<std::pair<std::string, int>> content;
  for (const auto& [key, value] : map) content.emplace_back(key, value);
  return content;
}

TEST(IndexedMapTest, IsIteratedInTheOrderOfItsKeysWhateverWasDoneBefore) {
  Random random(1);
  Map map;
  std::map<std::string, int> expected;
  for (int i = 0; i < 5'000; ++i) {
    const std::string key = std::to_string(random.Below(300));
    if (random.Chance(0.4)) {
      map.Erase(key);
      expected.erase(key);
    } else {
      EXPECT_EQ(map.Emplace(key, i), expected.try_emplace(key, i).first->second);
    }
    if (i % 100 != 0) continue;
    const std::vector<std::pair<std::string, int>> content(expected.begin(), expected.end());
    ASSERT_EQ(Content(map), content);
    ASSERT_EQ(map.size(), expected.size());
    for (int k = 0; k < 300; ++k) {
      ASSERT_EQ(map.contains(std::to_string(k)), expected.contains(std::to_string(k)));
    }
  }
}

TEST(IndexedMapTest, ValuesStayWhereTheyAre) {
  Map map;
  int* const first = &map.Emplace("m", 1);
  for (int i = 0; i < 1'000; ++i) map.Emplace(std::to_string(i), i);
  for (int i = 0; i < 500; ++i) map.Erase(std::to_string(i));
  EXPECT_EQ(map.Find("m"), first);
  EXPECT_EQ(&map.at("m"), first);
  EXPECT_EQ(*first, 1);
}

TEST(IndexedMapTest, ErasesByAKeyThatLiesInTheEntry) {
  Map map;
  map.Emplace("a", 1);
  map.Emplace("b", 2);
  map.Erase(map.begin()->first);
  EXPECT_EQ(Content(map), (std::vector<std::pair<std::string, int>>{{"b", 2}}));
}

TEST(IndexedMapTest, FindsNothingWhereThereIsNothing) {
  Map map;
  EXPECT_EQ(map.begin(), map.end());
  EXPECT_EQ(map.Find("a"), nullptr);
  map.Erase("a");
  EXPECT_TRUE(map.empty());
}

TEST(IndexedMapDeathTest, AtNeedsAnEntry) {
  Map map;
  EXPECT_DEATH(map.at("a"), "no such entry");
}

}  // namespace
}  // namespace plimsoll::internal
