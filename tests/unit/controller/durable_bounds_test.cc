#include "controller/src/durable_bounds.h"

#include <gtest/gtest.h>

namespace plimsoll::internal {
namespace {

const BoundKey kKey{DependencyId("db"), SessionId("1-1")};
constexpr Instant kNow{5};

Bound MakeBound(Calls limit, Calls base = 0) {
  Bound bound;
  bound.key = kKey;
  bound.steps = {limit, base, 0};
  bound.lease = bound.base_lease = bound.call_deadline = absl::Seconds(10);
  return bound;
}

auto Wants(Calls limit) {
  return [limit](const BoundKey&) -> DurableBounds::Wanted { return MakeBound(limit); };
}

auto WantsNothing() {
  return [](const BoundKey&) -> DurableBounds::Wanted { return std::nullopt; };
}

TEST(DurableBoundsTest, CoversWhatWasFound) {
  const DurableBounds bounds({MakeBound(5)});
  EXPECT_TRUE(bounds.Covers(MakeBound(5)));
  EXPECT_FALSE(bounds.Covers(MakeBound(6)));
  EXPECT_FALSE(bounds.Covers(MakeBound(5, 1))) << "every component counts";
}

TEST(DurableBoundsTest, TermsCountLikeSteps) {
  const DurableBounds bounds({MakeBound(5)});
  Bound longer = MakeBound(5);
  longer.call_deadline = absl::Seconds(11);
  EXPECT_FALSE(bounds.Covers(longer));
  longer = MakeBound(5);
  longer.base_lease = absl::Seconds(11);
  EXPECT_FALSE(bounds.Covers(longer));
}

TEST(DurableBoundsTest, ARaiseCountsWhenItsWriteHasEnded) {
  DurableBounds bounds({MakeBound(5)});
  bounds.Touch(kKey, kNow);
  const WriteBatch batch = bounds.Start(Wants(8));
  ASSERT_EQ(batch.put.size(), 1u);
  EXPECT_FALSE(bounds.Covers(MakeBound(8)));
  bounds.Finish(true, kNow);
  EXPECT_TRUE(bounds.Covers(MakeBound(8)));
}

TEST(DurableBoundsTest, ALoweringUnderWayCountsAtOnce) {
  DurableBounds bounds({MakeBound(5)});
  bounds.Touch(kKey, kNow);
  (void)bounds.Start(Wants(2));
  EXPECT_FALSE(bounds.Covers(MakeBound(5))) << "a successor may find 2 already";
  EXPECT_TRUE(bounds.Covers(MakeBound(2)));
}

TEST(DurableBoundsTest, AnErasureUnderWayCountsAtOnce) {
  DurableBounds bounds({MakeBound(5)});
  bounds.Touch(kKey, kNow);
  const WriteBatch batch = bounds.Start(WantsNothing());
  EXPECT_EQ(batch.erase, std::vector{kKey});
  EXPECT_FALSE(bounds.Covers(MakeBound(1)));
}

TEST(DurableBoundsTest, AfterAFailedWriteTheLowerOfBothCountsAndItIsWrittenAgain) {
  DurableBounds bounds({MakeBound(5)});
  bounds.Touch(kKey, kNow);
  (void)bounds.Start(Wants(2));
  bounds.Finish(false, kNow);
  EXPECT_EQ(bounds.LowestBound(kKey)->steps.limit, 2);
  EXPECT_TRUE(bounds.touched_at().has_value());
  const WriteBatch again = bounds.Start(Wants(5));
  EXPECT_EQ(again.put.size(), 1u) << "the store may hold 2, so 5 has to be written";
  bounds.Finish(true, kNow);
  EXPECT_TRUE(bounds.Covers(MakeBound(5)));
}

TEST(DurableBoundsTest, AFailedErasureIsRepeated) {
  DurableBounds bounds({MakeBound(5)});
  bounds.Touch(kKey, kNow);
  (void)bounds.Start(WantsNothing());
  bounds.Finish(false, kNow);
  const WriteBatch again = bounds.Start(WantsNothing());
  EXPECT_EQ(again.erase.size(), 1u);
}

TEST(DurableBoundsTest, WhatIsDurableAlreadyIsNotWritten) {
  DurableBounds bounds({MakeBound(5)});
  bounds.Touch(kKey, kNow);
  EXPECT_TRUE(bounds.Start(Wants(5)).empty());
  EXPECT_FALSE(bounds.writing());
}

TEST(DurableBoundsTest, TouchesDuringAWriteWaitForTheNext) {
  DurableBounds bounds({});
  bounds.Touch(kKey, kNow);
  (void)bounds.Start(Wants(5));
  bounds.Touch(kKey, kNow);
  bounds.Finish(true, kNow);
  EXPECT_EQ(bounds.Start(Wants(7)).put.size(), 1u);
}

}  // namespace
}  // namespace plimsoll::internal
