#include "tests/integration/chaos/witness.h"

#include <gtest/gtest.h>

namespace plimsoll::chaos {
namespace {

constexpr absl::Duration kMemory = absl::Seconds(4);

Instant At(double seconds) { return Instant{} + absl::Seconds(seconds); }

TEST(QuotaWitnessTest, AllowsTheFirstQuota) {
  const QuotaWitness witness(50, kMemory);
  EXPECT_EQ(witness.Allowed(At(0)), 50);
  EXPECT_TRUE(witness.Settled());
}

TEST(QuotaWitnessTest, AllowsARaiseFromTheMomentItIsWritten) {
  QuotaWitness witness(50, kMemory);
  witness.Written(60);
  EXPECT_EQ(witness.Allowed(At(1)), 60);
  EXPECT_EQ(witness.current(), 50);
  EXPECT_FALSE(witness.Settled());
}

TEST(QuotaWitnessTest, AllowsTheOldQuotaUntilACutIsShown) {
  QuotaWitness witness(50, kMemory);
  witness.Written(30);
  EXPECT_EQ(witness.Allowed(At(1000)), 50);
}

TEST(QuotaWitnessTest, AllowsTheOldQuotaForAsLongAsItsLimitsMayLast) {
  QuotaWitness witness(50, kMemory);
  witness.Written(30);
  witness.Shown(30, At(10));
  EXPECT_TRUE(witness.Settled());
  EXPECT_EQ(witness.Allowed(At(14)), 50);
  EXPECT_EQ(witness.Allowed(At(14.001)), 30);
}

TEST(QuotaWitnessTest, IgnoresThatAnOldQuotaIsShownOnceMore) {
  QuotaWitness witness(50, kMemory);
  witness.Written(30);
  witness.Shown(50, At(10));
  EXPECT_FALSE(witness.Settled());
  EXPECT_EQ(witness.Allowed(At(20)), 50);
}

TEST(QuotaWitnessTest, EndsAQuotaThatWasNeverShown) {
  QuotaWitness witness(50, kMemory);
  witness.Written(60);
  witness.Written(30);
  witness.Shown(30, At(10));
  EXPECT_EQ(witness.Allowed(At(14)), 60);
  EXPECT_EQ(witness.Allowed(At(15)), 30);
}

TEST(QuotaWitnessTest, KeepsWhatWasWrittenAfterTheOneThatIsShown) {
  QuotaWitness witness(50, kMemory);
  witness.Written(30);
  witness.Written(60);
  witness.Shown(30, At(10));
  EXPECT_EQ(witness.Allowed(At(100)), 60);
}

TEST(QuotaWitnessTest, CannotBeToldAQuotaThatNobodyWrote) {
  QuotaWitness witness(50, kMemory);
  witness.Shown(40, At(10));
  EXPECT_EQ(witness.current(), 50);
}

}  // namespace
}  // namespace plimsoll::chaos
