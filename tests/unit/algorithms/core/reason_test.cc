#include "plimsoll/core/reason.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

std::string Lower(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// Every name leads back to its value, in both cases of letters, and none is there twice.
template <typename Enum, typename FromString>
void ExpectRoundTrips(std::size_t size, FromString from_string) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < size; ++i) {
    const auto value = static_cast<Enum>(i);
    const std::string_view name = ToString(value);
    EXPECT_EQ(from_string(name), value) << name;
    EXPECT_EQ(from_string(Lower(name)), value) << name;
    EXPECT_TRUE(std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'A' && c <= 'Z') || c == '_';
    })) << name;
    names.insert(name);
  }
  EXPECT_EQ(names.size(), size);
}

TEST(ReasonTest, GoesToItsNameAndBack) { ExpectRoundTrips<Reason>(kReasons, ReasonFromString); }

TEST(ReasonTest, HasTheNamesOfTheApi) {
  EXPECT_EQ(ToString(Reason::kLatencyRose), "LATENCY_ROSE");
  EXPECT_EQ(ToString(Reason::kThroughputFlat), "THROUGHPUT_FLAT");
  EXPECT_EQ(ToString(Reason::kUnderused), "UNDERUSED");
  EXPECT_EQ(ToString(Reason::kCeiling), "CEILING");
  EXPECT_EQ(ToString(Reason::kQuotaRebalanced), "QUOTA_REBALANCED");
  EXPECT_EQ(ToString(Reason::kFallbackLeft), "FALLBACK_LEFT");
  EXPECT_EQ(ToString(Reason::kInitial), "INITIAL");
}

TEST(BindingConstraintTest, GoesToItsNameAndBack) {
  ExpectRoundTrips<BindingConstraint>(kBindingConstraints, BindingConstraintFromString);
  EXPECT_EQ(ToString(BindingConstraint::kFallback), "FALLBACK");
}

TEST(RejectReasonTest, GoesToItsNameAndBack) {
  ExpectRoundTrips<RejectReason>(kRejectReasons, RejectReasonFromString);
  EXPECT_EQ(ToString(RejectReason::kBreakerOpen), "BREAKER_OPEN");
  EXPECT_EQ(ToString(RejectReason::kDraining), "DRAINING");
}

TEST(WindowOutcomeTest, HasTheNamesOfTheApi) {
  EXPECT_EQ(ToString(WindowOutcome::kUsed), "USED");
  EXPECT_EQ(ToString(WindowOutcome::kTooFewSamples), "TOO_FEW_SAMPLES");
  EXPECT_EQ(ToString(WindowOutcome::kNotSaturated), "NOT_SATURATED");
  EXPECT_EQ(ToString(WindowOutcome::kStale), "STALE");
}

TEST(ReasonTest, KnowsNoOtherWords) {
  for (const char* word : {"", "LATENCY", "LATENCY_ROSE ", "LATENCY-ROSE", "LIMIT"}) {
    EXPECT_EQ(ReasonFromString(word), std::nullopt) << word;
  }
  EXPECT_EQ(BindingConstraintFromString("INITIAL"), std::nullopt);
  EXPECT_EQ(RejectReasonFromString("FLOOR"), std::nullopt);
}

}  // namespace
}  // namespace plimsoll
