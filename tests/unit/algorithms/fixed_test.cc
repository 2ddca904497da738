#include "gtest/gtest.h"
#include "tests/unit/algorithms/laws.h"

namespace plimsoll {
namespace {

TEST(FixedTest, KeepsTheInitialLimitWhateverHappens) {
  const auto law = LawOf(ConfigOf(AlgorithmKind::kFixed, 5, 20, 200));
  LawState state = law->InitialState();
  EXPECT_EQ(law->name(), "fixed");
  EXPECT_EQ(law->Limit(state), 20);
  for (const Observation& observation :
       {Saw(absl::Milliseconds(1), 20), Saw(absl::Hours(1), 20, true), Observation{}}) {
    const Decision decision = law->Decide(state, observation);
    EXPECT_EQ(decision.limit, 20);
    EXPECT_EQ(decision.unclamped, 20);
    EXPECT_EQ(decision.reason, Reason::kInitial);
  }
}

TEST(FixedDeathTest, RefusesTheStateOfAnotherLaw) {
  const auto law = LawOf(ConfigOf(AlgorithmKind::kFixed, 5, 20, 200));
  LawState state = AimdState{};
  EXPECT_DEATH(law->Limit(state), "belongs to another law");
  EXPECT_DEATH(law->Decide(state, Observation{}), "belongs to another law");
}

}  // namespace
}  // namespace plimsoll
