#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/algorithms/laws.h"

namespace plimsoll {
namespace {

constexpr absl::Duration kFast = absl::Milliseconds(10);
constexpr absl::Duration kThreshold = absl::Milliseconds(100);

AlgorithmConfig Config(Calls floor, Calls initial, Calls ceiling) {
  AlgorithmConfig config = ConfigOf(AlgorithmKind::kAimd, floor, initial, ceiling);
  config.aimd.latency_threshold = kThreshold;
  return config;
}

struct Step {
  std::string what;
  Calls limit;
  Observation observation;
  Calls expected;
  Reason reason;
  double unclamped;
};

TEST(AimdTest, StepsByTheLaw) {
  const auto law = LawOf(Config(5, 20, 50));
  const absl::Duration slow = kThreshold + absl::Nanoseconds(1);
  const std::vector<Step> steps = {
      {"in use", 20, Saw(kFast, 20), 21, Reason::kLatencyFell, 21},
      {"just half in use", 20, Saw(kFast, 10), 21, Reason::kLatencyFell, 21},
      {"less than half in use", 20, Saw(kFast, 9), 20, Reason::kUnderused, 20},
      {"half of an odd limit", 21, Saw(kFast, 10), 21, Reason::kUnderused, 21},
      {"on the threshold", 20, Saw(kThreshold, 20), 21, Reason::kLatencyFell, 21},
      {"above the threshold", 20, Saw(slow, 20), 18, Reason::kTimeouts, 18},
      {"dropped", 20, Saw(kFast, 20, true), 18, Reason::kErrors, 18},
      {"dropped and slow", 20, Saw(slow, 20, true), 18, Reason::kErrors, 18},
      {"dropped without use", 20, Saw(kFast, 0, true), 18, Reason::kErrors, 18},
      {"truncated", 19, Saw(kFast, 19, true), 17, Reason::kErrors, 17},
      {"at the floor", 5, Saw(kFast, 5, true), 5, Reason::kFloor, 4},
      {"just to the floor", 6, Saw(slow, 6), 5, Reason::kTimeouts, 5},
      {"up to the ceiling", 49, Saw(kFast, 49), 50, Reason::kLatencyFell, 50},
      {"at the ceiling", 50, Saw(kFast, 50), 50, Reason::kCeiling, 51},
      {"at the ceiling without use", 50, Saw(kFast, 1), 50, Reason::kUnderused, 50},
  };
  for (const Step& step : steps) {
    LawState state = AimdState{step.limit};
    const Decision decision = law->Decide(state, step.observation);
    EXPECT_EQ(decision.limit, step.expected) << step.what;
    EXPECT_EQ(decision.reason, step.reason) << step.what;
    EXPECT_EQ(decision.unclamped, step.unclamped) << step.what;
    EXPECT_EQ(state, LawState(AimdState{step.expected})) << step.what;
  }
}

TEST(AimdTest, TellsByHowMuchItCut) {
  const auto law = LawOf(Config(5, 20, 50));
  LawState state = law->InitialState();
  EXPECT_EQ(law->Decide(state, Saw(kFast, 20)).gradient, 1);
  EXPECT_EQ(law->Decide(state, Saw(kFast, 20, true)).gradient, 0.9);
  EXPECT_EQ(law->Decide(state, Saw(kFast, 20)).baseline, absl::ZeroDuration());
}

TEST(AimdTest, RisesByTheIncreaseUpToTheCeiling) {
  AlgorithmConfig config = Config(5, 20, 50);
  config.aimd.increase = 25;
  const auto law = LawOf(config);
  LawState state = law->InitialState();
  EXPECT_EQ(law->Decide(state, Saw(kFast, 20)).limit, 45);
  const Decision decision = law->Decide(state, Saw(kFast, 45));
  EXPECT_EQ(decision.limit, 50);
  EXPECT_EQ(decision.reason, Reason::kCeiling);
}

TEST(AimdTest, FallsByAtLeastOneFromEveryLimitEvenWithTheMildestBackoff) {
  AlgorithmConfig config = Config(1, 1, kCallsMax);
  config.aimd.backoff = std::nextafter(1.0, 0.0);
  const auto law = LawOf(config);
  for (Calls limit = 2; limit <= kCallsMax; ++limit) {
    LawState state = AimdState{limit};
    ASSERT_EQ(law->Decide(state, Saw(kFast, limit, true)).limit, limit - 1);
  }
}

TEST(AimdTest, ComesBackFromTheLowestFloor) {
  AlgorithmConfig config = Config(1, 1, 10);
  config.aimd.backoff = 0.5;
  const auto law = LawOf(config);
  LawState state = law->InitialState();
  for (int i = 0; i < 10; ++i) law->Decide(state, Saw(kFast, 1, true));
  EXPECT_EQ(law->Limit(state), 1);
  EXPECT_EQ(law->Decide(state, Saw(kFast, 1)).limit, 2);
}

TEST(AimdTest, LearnsNothingFromAnObservationThatTellsNothing) {
  const auto law = LawOf(Config(5, 20, 50));
  const Observation empty{.latency = kFast, .in_flight = 20, .dropped = true, .samples = 0};
  for (const Observation& observation :
       {empty, Saw(absl::ZeroDuration(), 20), Saw(-kFast, 20, true),
        Saw(-absl::InfiniteDuration(), 20)}) {
    LawState state = law->InitialState();
    const Decision decision = law->Decide(state, observation);
    EXPECT_EQ(decision.limit, 20);
    EXPECT_EQ(decision.reason, Reason::kUnderused);
    EXPECT_EQ(state, law->InitialState());
  }
}

TEST(AimdTest, BringsALimitFromOtherBoundsBetweenItsOwn) {
  const auto law = LawOf(Config(5, 20, 50));
  EXPECT_EQ(law->Limit(AimdState{500}), 50);
  EXPECT_EQ(law->Limit(AimdState{0}), 5);
  LawState state = AimdState{500};
  EXPECT_EQ(law->Decide(state, Saw(kFast, 50, true)).limit, 45);
}

TEST(AimdTest, LetsTheCeilingWinOverTheFloorInReferenceExactMode) {
  AlgorithmConfig config = Config(40, 30, 20);
  config.reference_exact = true;
  const auto law = LawOf(config);
  LawState state = law->InitialState();
  EXPECT_EQ(law->Decide(state, Saw(kFast, 30)).limit, 20);
}

TEST(AimdTest, TwiceTheCallsInFlightWrapInReferenceExactModeOnly) {
  for (const bool exact : {false, true}) {
    AlgorithmConfig config;
    config.kind = AlgorithmKind::kAimd;
    config.reference_exact = exact;
    const auto law = MakeAlgorithm(config);
    ASSERT_TRUE(law.ok());
    LawState state = (*law)->InitialState();
    const Observation full{
        .latency = absl::Milliseconds(1), .in_flight = 2'147'483'647, .samples = 1};
    EXPECT_EQ((*law)->Decide(state, full).limit, exact ? 20 : 21);
  }
}

TEST(AimdTest, CountsALatencyOfZeroInReferenceExactMode) {
  AlgorithmConfig config = Config(5, 20, 50);
  config.reference_exact = true;
  const auto law = LawOf(config);
  LawState state = law->InitialState();
  EXPECT_EQ(law->Decide(state, Saw(absl::ZeroDuration(), 20)).limit, 21);
}

TEST(AimdTest, StaysTrappedAtZeroInReferenceExactModeLikeTheReference) {
  AlgorithmConfig config = Config(0, 1, 50);
  config.reference_exact = true;
  const auto law = LawOf(config);
  LawState state = law->InitialState();
  EXPECT_EQ(law->Decide(state, Saw(kFast, 1, true)).limit, 0);
  EXPECT_EQ(law->Decide(state, Saw(kFast, 0, true)).limit, 0);
}

TEST(AimdDeathTest, RefusesTheStateOfAnotherLaw) {
  const auto law = LawOf(Config(5, 20, 50));
  LawState state = FixedState{};
  EXPECT_DEATH(law->Decide(state, Saw(kFast, 1)), "belongs to another law");
}

}  // namespace
}  // namespace plimsoll
