#include "controller/src/durable_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace plimsoll::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const BoundKey kKey{DependencyId("db"), SessionId("1-1")};
const BoundKey kSecond{DependencyId("cache"), kKey.session};
constexpr Instant kNow{5};

BoundValue MakeValue(Calls limit, Calls base = 0) {
  return {{limit, base, 0}, absl::Seconds(10), absl::Seconds(10), absl::Seconds(10)};
}

Bound Named(const BoundKey& key, const BoundValue& value) {
  Bound bound;
  bound.key = key;
  bound.steps = value.steps;
  bound.lease = value.lease;
  bound.base_lease = value.base_lease;
  bound.call_deadline = value.call_deadline;
  return bound;
}

Bound MakeBound(Calls limit) { return Named(kKey, MakeValue(limit)); }

auto Wants(Calls limit) {
  return [limit](const BoundKey&) -> DurableBounds::Wanted { return MakeValue(limit); };
}

auto WantsNothing() {
  return [](const BoundKey&) -> DurableBounds::Wanted { return std::nullopt; };
}

template <typename WantedOf>
WriteBatch StartWrite(DurableBounds& bounds, const WantedOf& wanted) {
  FifoSet<SessionId> waiting;
  return bounds.Start(wanted, Named, waiting).batch;
}

TEST(DurableBoundsTest, CoversWhatWasFound) {
  const DurableBounds bounds({MakeBound(5)});
  EXPECT_TRUE(bounds.Covers(kKey, MakeValue(5)));
  EXPECT_FALSE(bounds.Covers(kKey, MakeValue(6)));
  EXPECT_FALSE(bounds.Covers(kKey, MakeValue(5, 1))) << "every component counts";
}

TEST(DurableBoundsTest, TermsCountLikeSteps) {
  const DurableBounds bounds({MakeBound(5)});
  BoundValue longer = MakeValue(5);
  longer.call_deadline = absl::Seconds(11);
  EXPECT_FALSE(bounds.Covers(kKey, longer));
  longer = MakeValue(5);
  longer.base_lease = absl::Seconds(11);
  EXPECT_FALSE(bounds.Covers(kKey, longer));
}

TEST(DurableBoundsTest, ARaiseCountsWhenItsWriteHasEnded) {
  DurableBounds bounds({MakeBound(5)});
  bounds.Touch(kKey, kNow);
  const WriteBatch batch = StartWrite(bounds, Wants(8));
  ASSERT_EQ(batch.put.size(), 1u);
  EXPECT_FALSE(bounds.Covers(kKey, MakeValue(8)));
  bounds.Finish(true, kNow);
  EXPECT_TRUE(bounds.Covers(kKey, MakeValue(8)));
}

TEST(DurableBoundsTest, ALoweringUnderWayCountsAtOnce) {
  DurableBounds bounds({MakeBound(5)});
  bounds.Touch(kKey, kNow);
  (void)StartWrite(bounds, Wants(2));
  EXPECT_FALSE(bounds.Covers(kKey, MakeValue(5))) << "a successor may find 2 already";
  EXPECT_TRUE(bounds.Covers(kKey, MakeValue(2)));
}

TEST(DurableBoundsTest, AnErasureUnderWayCountsAtOnce) {
  DurableBounds bounds({MakeBound(5)});
  bounds.Touch(kKey, kNow);
  const WriteBatch batch = StartWrite(bounds, WantsNothing());
  EXPECT_EQ(batch.erase, std::vector{kKey});
  EXPECT_FALSE(bounds.Covers(kKey, MakeValue(1)));
}

TEST(DurableBoundsTest, AfterAFailedWriteTheLowerOfBothCountsAndItIsWrittenAgain) {
  DurableBounds bounds({MakeBound(5)});
  bounds.Touch(kKey, kNow);
  (void)StartWrite(bounds, Wants(2));
  bounds.Finish(false, kNow);
  EXPECT_EQ(bounds.Lowest(kKey)->steps.limit, 2);
  EXPECT_TRUE(bounds.touched_at().has_value());
  const WriteBatch again = StartWrite(bounds, Wants(5));
  EXPECT_EQ(again.put.size(), 1u) << "the store may hold 2, so 5 has to be written";
  bounds.Finish(true, kNow);
  EXPECT_TRUE(bounds.Covers(kKey, MakeValue(5)));
}

TEST(DurableBoundsTest, AFailedErasureIsRepeated) {
  DurableBounds bounds({MakeBound(5)});
  bounds.Touch(kKey, kNow);
  (void)StartWrite(bounds, WantsNothing());
  bounds.Finish(false, kNow);
  const WriteBatch again = StartWrite(bounds, WantsNothing());
  EXPECT_EQ(again.erase.size(), 1u);
}

TEST(DurableBoundsTest, WhatIsDurableAlreadyIsNotWritten) {
  DurableBounds bounds({MakeBound(5)});
  bounds.Touch(kKey, kNow);
  EXPECT_TRUE(StartWrite(bounds, Wants(5)).empty());
  EXPECT_FALSE(bounds.writing());
}

TEST(DurableBoundsTest, TouchesDuringAWriteWaitForTheNext) {
  DurableBounds bounds({});
  bounds.Touch(kKey, kNow);
  (void)StartWrite(bounds, Wants(5));
  bounds.Touch(kKey, kNow);
  bounds.Finish(true, kNow);
  EXPECT_EQ(StartWrite(bounds, Wants(7)).put.size(), 1u);
}

TEST(DurableBoundsTest, TheRaisesOfASessionGoTogether) {
  DurableBounds bounds({}, 1);
  bounds.Touch(kKey, kNow);
  bounds.Touch(kSecond, kNow);
  EXPECT_EQ(StartWrite(bounds, Wants(8)).put.size(), 2u) << "it is answered for all of them";
}

TEST(DurableBoundsTest, OneOfTwoRaisesThatWaitIsTakenBack) {
  DurableBounds bounds({}, 1);
  const BoundKey first{kKey.dependency, SessionId("1-0")};
  for (const BoundKey& key : {first, kKey, kSecond}) bounds.Touch(key, kNow);
  EXPECT_EQ(StartWrite(bounds, Wants(8)).put.size(), 1u);
  bounds.Finish(true, kNow);
  bounds.Touch(kKey, kNow);
  const auto only_second = [](const BoundKey& key) -> DurableBounds::Wanted {
    if (key == kKey) return std::nullopt;
    return MakeValue(8);
  };
  const WriteBatch batch = StartWrite(bounds, only_second);
  EXPECT_EQ(batch.put.size(), 1u);
  EXPECT_THAT(batch.erase, IsEmpty());
  bounds.Finish(true, kNow);
  EXPECT_TRUE(bounds.Covers(kSecond, MakeValue(8)));
  EXPECT_FALSE(bounds.touched_at().has_value());
}

// Many sessions of one dependency, with two raises in a write.
class ManyRaisesTest : public ::testing::Test {
 protected:
  static constexpr Calls kBefore = 5;

  static SessionId Session(int i) { return SessionId("1-" + std::to_string(i)); }
  static std::vector<Bound> Found(int count) {
    std::vector<Bound> found;
    for (int i = 0; i < count; ++i) {
      found.push_back(MakeBound(kBefore));
      found.back().key.session = Session(i);
    }
    return found;
  }

  void Want(int i, Calls limit) {
    wanted_[Session(i)] = limit;
    bounds_.Touch({kKey.dependency, Session(i)}, kNow);
  }
  DurableBounds::Write Start() {
    return bounds_.Start(
        [this](const BoundKey& key) -> DurableBounds::Wanted {
          return MakeValue(wanted_.at(key.session));
        },
        Named, waiting_);
  }
  void Wait(const std::vector<int>& numbers) {
    for (int i : numbers) waiting_.Insert(Session(i));
  }
  static std::set<SessionId> Put(const WriteBatch& batch) {
    std::set<SessionId> sessions;
    for (const Bound& bound : batch.put) sessions.insert(bound.key.session);
    return sessions;
  }
  static std::set<SessionId> SessionsOf(const std::vector<int>& numbers) {
    std::set<SessionId> sessions;
    for (int i : numbers) sessions.insert(Session(i));
    return sessions;
  }

  DurableBounds bounds_{Found(6), 2};
  std::map<SessionId, Calls> wanted_;
  FifoSet<SessionId> waiting_;
};

TEST_F(ManyRaisesTest, GoInSeveralWritesAndLoweringsInTheFirst) {
  for (int i : {0, 1, 2, 3}) Want(i, 8);
  for (int i : {4, 5}) Want(i, 1);
  Wait({0, 1, 2, 3});
  const DurableBounds::Write first = Start();
  EXPECT_EQ(Put(first.batch), SessionsOf({0, 1, 4, 5}));
  EXPECT_THAT(first.sessions, ElementsAre(Session(0), Session(1)));
  EXPECT_EQ(waiting_.size(), 2u);
  bounds_.Finish(true, kNow);
  EXPECT_TRUE(bounds_.touched_at().has_value()) << "more is to be written";
  const DurableBounds::Write second = Start();
  EXPECT_EQ(Put(second.batch), SessionsOf({2, 3}));
  EXPECT_THAT(second.sessions, ElementsAre(Session(2), Session(3)));
  bounds_.Finish(true, kNow);
  EXPECT_FALSE(bounds_.touched_at().has_value());
}

TEST_F(ManyRaisesTest, WhileMoreWaitEachWriteHasThreeTimesAsManyAsTheOneBefore) {
  for (int i = 0; i < 30; ++i) Want(i, 8);
  for (const std::size_t expected : {2U, 6U, 18U, 4U}) {
    EXPECT_EQ(Start().batch.put.size(), expected);
    bounds_.Finish(true, kNow);
  }
  for (int i = 0; i < 4; ++i) Want(i, 9);
  EXPECT_EQ(Start().batch.put.size(), 2u) << "as before";
}

TEST_F(ManyRaisesTest, WhoWaitsGoesFirst) {
  for (int i : {0, 1, 2, 3}) Want(i, 8);
  Wait({3});
  EXPECT_EQ(Put(Start().batch), SessionsOf({0, 3}));
}

TEST_F(ManyRaisesTest, WhoHasWaitedLongerIsServedFirst) {
  for (int i : {0, 1, 2, 3}) Want(i, 8);
  Wait({3, 0, 1});
  EXPECT_THAT(Start().sessions, ElementsAre(Session(3), Session(0)));
}

TEST_F(ManyRaisesTest, OneThatIsLoweredMeanwhileWaitsNoLonger) {
  for (int i : {0, 1, 2, 3}) Want(i, 8);
  Wait({0, 1});
  (void)Start();
  bounds_.Finish(true, kNow);
  Want(3, 2);
  Want(4, 9);
  Wait({4});
  const DurableBounds::Write write = Start();
  EXPECT_EQ(Put(write.batch), SessionsOf({2, 3, 4}));
  for (const Bound& bound : write.batch.put) {
    EXPECT_EQ(bound.steps.limit, wanted_.at(bound.key.session));
  }
  bounds_.Finish(true, kNow);
  EXPECT_TRUE(Start().batch.empty());
}

// Of what is above in one component and below in another nobody may wait.
TEST_F(ManyRaisesTest, WhatRisesAndFallsIsNoRaise) {
  for (int i : {0, 1, 2}) Want(i, 8);
  Wait({0, 1});
  const auto mixed = [this](const BoundKey& key) -> DurableBounds::Wanted {
    BoundValue value = MakeValue(wanted_.at(key.session));
    if (key.session == Session(2)) value.base_lease = absl::Seconds(9);
    return value;
  };
  EXPECT_EQ(Put(bounds_.Start(mixed, Named, waiting_).batch), SessionsOf({0, 1, 2}));
}

TEST_F(ManyRaisesTest, AFailedWriteIsRepeatedWhole) {
  for (int i : {0, 1, 2}) Want(i, 8);
  Wait({0, 1, 2});
  (void)Start();
  bounds_.Finish(false, kNow);
  Wait({0, 1});
  EXPECT_EQ(Put(Start().batch), SessionsOf({0, 1, 2})) << "what may have landed is no raise";
}

}  // namespace
}  // namespace plimsoll::internal
