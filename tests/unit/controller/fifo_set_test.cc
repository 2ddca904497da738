#include "controller/src/fifo_set.h"

#include <gtest/gtest.h>

#include <vector>

namespace plimsoll::internal {
namespace {

std::vector<int> All(FifoSet<int>& set) {
  std::vector<int> members;
  while (!set.empty()) members.push_back(set.Pop());
  return members;
}

TEST(FifoSetTest, GivesMembersInTheOrderInWhichTheyCame) {
  FifoSet<int> set;
  for (int i : {3, 1, 2}) set.Insert(i);
  EXPECT_EQ(All(set), (std::vector{3, 1, 2}));
}

TEST(FifoSetTest, WhoIsInItKeepsItsPlace) {
  FifoSet<int> set;
  for (int i : {3, 1, 3}) set.Insert(i);
  EXPECT_EQ(set.size(), 2u);
  EXPECT_EQ(All(set), (std::vector{3, 1}));
}

TEST(FifoSetTest, WhoWasErasedComesLastWhenItComesBack) {
  FifoSet<int> set;
  for (int i : {3, 1, 2}) set.Insert(i);
  set.Erase(3);
  EXPECT_FALSE(set.contains(3));
  EXPECT_EQ(set.size(), 2u);
  set.Insert(3);
  EXPECT_EQ(All(set), (std::vector{1, 2, 3}));
}

TEST(FifoSetTest, ComingAndGoingChangesNoOrder) {
  FifoSet<int> set;
  for (int i = 0; i < 10; ++i) set.Insert(i);
  for (int round = 0; round < 1000; ++round) {
    set.Insert(100);
    set.Erase(100);
  }
  EXPECT_EQ(All(set), (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(FifoSetTest, ThereIsNoFirstOfNone) {
  FifoSet<int> set;
  set.Insert(1);
  set.Erase(1);
  EXPECT_DEATH(set.Pop(), "nobody is in this set");
}

}  // namespace
}  // namespace plimsoll::internal
