#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/algorithms/laws.h"

namespace plimsoll {
namespace {

constexpr absl::Duration kFast = absl::Milliseconds(10);
constexpr std::int64_t kFastNs = 10'000'000;

AlgorithmConfig Config(Calls floor, Calls initial, Calls ceiling) {
  return ConfigOf(AlgorithmKind::kVegas, floor, initial, ceiling);
}

VegasState Learnt(double estimate) { return {.estimated_limit = estimate, .baseline_ns = kFastNs}; }

VegasState& Own(LawState& state) { return std::get<VegasState>(state); }

TEST(VegasTest, LearnsTheFirstLatencyAndStays) {
  const auto law = LawOf(Config(1, 20, 200));
  LawState state = law->InitialState();
  const Decision decision = law->Decide(state, Saw(kFast, 20));
  EXPECT_EQ(decision.limit, 20);
  EXPECT_EQ(decision.reason, Reason::kProbe);
  EXPECT_EQ(decision.baseline, kFast);
}

// At a limit of 100, log10 is 2: threshold 2, alpha 6, beta 12.
TEST(VegasTest, KeepsTheQueueBetweenItsBounds) {
  struct Case {
    double latency_ns;
    Calls queue;
    Calls limit;
    Reason reason;
  };
  const std::vector<Case> cases = {
      {10.0e6, 0, 112, Reason::kLatencyFell},         // + beta
      {10.0e6 / 0.98, 2, 112, Reason::kLatencyFell},  // threshold included
      {10.0e6 / 0.97, 3, 102, Reason::kLatencyFell},  // + log10
      {10.0e6 / 0.95, 5, 102, Reason::kLatencyFell},
      {10.0e6 / 0.94, 6, 100, Reason::kLatencyFell},  // as long as wanted
      {10.0e6 / 0.88, 12, 100, Reason::kLatencyFell},
      {10.0e6 / 0.87, 13, 98, Reason::kLatencyRose},  // - log10
      {100.0e6, 90, 98, Reason::kLatencyRose}};
  const auto law = LawOf(Config(1, 100, 200));
  for (const Case& test : cases) {
    LawState state = Learnt(100);
    // A hair less, so that rounding cannot lift the queue over a whole number.
    const absl::Duration latency = absl::Nanoseconds(std::floor(test.latency_ns));
    const Decision decision = law->Decide(state, Saw(latency, 100));
    EXPECT_EQ(decision.limit, test.limit) << test.queue;
    EXPECT_EQ(decision.reason, test.reason) << test.queue;
  }
}

TEST(VegasTest, TakesFixedBoundsAndHalves) {
  AlgorithmConfig config = Config(1, 100, 200);
  config.vegas.alpha = {false, 3};
  config.vegas.beta = {false, 6};
  config.vegas.threshold = {false, 1};
  config.vegas.decrease = VegasStep::kHalve;
  const auto law = LawOf(config);
  LawState state = Learnt(100);
  EXPECT_EQ(law->Decide(state, Saw(kFast, 100)).limit, 106);
  state = Learnt(100);
  EXPECT_EQ(law->Decide(state, Saw(2 * kFast, 100)).limit, 50);
}

TEST(VegasTest, SmoothsTheStep) {
  AlgorithmConfig config = Config(1, 100, 200);
  config.vegas.smoothing = 0.5;
  config.vegas.decrease = VegasStep::kHalve;
  const auto law = LawOf(config);
  LawState state = Learnt(100);
  EXPECT_EQ(law->Decide(state, Saw(2 * kFast, 100)).limit, 75);
  EXPECT_EQ(law->Decide(state, Saw(2 * kFast, 100)).limit, 56);
}

TEST(VegasTest, StaysWhileLessThanHalfIsInUse) {
  const auto law = LawOf(Config(1, 100, 200));
  LawState state = Learnt(100);
  EXPECT_EQ(law->Decide(state, Saw(kFast, 49)).reason, Reason::kUnderused);
  EXPECT_EQ(law->Decide(state, Saw(kFast, 50)).limit, 112);
}

TEST(VegasTest, LowersTheBaselineByATenthAtMost) {
  const auto law = LawOf(Config(1, 100, 200));
  LawState state = Learnt(100);
  law->Decide(state, Saw(kFast / 100, 10));
  EXPECT_EQ(Own(state).baseline_ns, kFastNs * 9 / 10);
  law->Decide(state, Saw(kFast * 0.85, 10));
  EXPECT_EQ(Own(state).baseline_ns, 8'500'000);
}

TEST(VegasTest, LetsTheBaselineRiseOnlyWhenDueAndHalfOfTheLimitIsIdle) {
  const auto law = LawOf(Config(1, 100, 200));
  VegasState due = Learnt(100);
  due.probe_count = 75 * 30;
  LawState state = due;
  law->Decide(state, Saw(4 * kFast, 100));
  EXPECT_EQ(Own(state).baseline_ns, kFastNs);
  Observation idle = Saw(4 * kFast, 10);
  idle.draw = 0.25;
  law->Decide(state, idle);
  EXPECT_EQ(Own(state).baseline_ns, 2 * kFastNs);  // twice at most
  EXPECT_EQ(Own(state).probe_count, 0);
  EXPECT_EQ(Own(state).probe_jitter, 0.625);
  law->Decide(state, idle);
  EXPECT_EQ(Own(state).baseline_ns, 2 * kFastNs);
}

TEST(VegasTest, TakesAPinnedBaselineForGranted) {
  AlgorithmConfig config = Config(1, 100, 200);
  config.vegas.fixed_baseline = kFast;
  const auto law = LawOf(config);
  LawState state = law->InitialState();
  law->Decide(state, Saw(4 * kFast, 100));
  const Decision decision = law->Decide(state, Saw(4 * kFast, 100));
  EXPECT_EQ(decision.baseline, kFast);
  EXPECT_EQ(decision.reason, Reason::kLatencyRose);
}

TEST(VegasTest, CutsOnDropsByAtLeastOneCall) {
  AlgorithmConfig config = Config(1, 100, 200);
  config.vegas.smoothing = 0.1;
  const auto law = LawOf(config);
  LawState state = Learnt(100);
  const Decision decision = law->Decide(state, Saw(kFast / 100, 0, true));
  EXPECT_EQ(decision.limit, 99);
  EXPECT_EQ(decision.reason, Reason::kErrors);
  EXPECT_EQ(Own(state).baseline_ns, kFastNs);
}

TEST(VegasTest, IsCutShortByFloorAndCeiling) {
  const auto law = LawOf(Config(20, 100, 105));
  LawState state = Learnt(100);
  EXPECT_EQ(law->Decide(state, Saw(kFast, 100)).reason, Reason::kCeiling);
  EXPECT_EQ(law->Limit(state), 105);
  state = Learnt(20);
  EXPECT_EQ(law->Decide(state, Saw(100 * kFast, 100)).reason, Reason::kFloor);
  EXPECT_EQ(law->Limit(state), 20);
}

TEST(VegasTest, ProbesWithWhateverLatencyComesInReferenceExactMode) {
  AlgorithmConfig config = Config(1, 10, 200);
  config.reference_exact = true;
  config.vegas.pin_probe_jitter = 0.5;
  config.vegas.probe_multiplier = 1;
  const auto law = LawOf(config);
  LawState state = law->InitialState();
  for (int i = 0; i < 4; ++i) law->Decide(state, Saw(kFast, 1));
  EXPECT_EQ(Own(state).baseline_ns, kFastNs);
  EXPECT_EQ(law->Decide(state, Saw(9 * kFast, 10, true)).reason, Reason::kProbe);
  EXPECT_EQ(Own(state).baseline_ns, 9 * kFastNs);
  EXPECT_EQ(Own(state).probe_count, 0);
}

TEST(LogRuleTest, IsReadAndWritten) {
  const std::vector<std::pair<std::string, LogRule>> cases = {
      {"log10", {true, 1}}, {"3*log10", {true, 3}}, {"4", {false, 4}}};
  for (const auto& [text, rule] : cases) {
    EXPECT_EQ(ParseLogRule(text), rule);
    EXPECT_EQ(ToString(rule), text);
  }
  EXPECT_EQ(ParseLogRule("fixed:4"), (LogRule{false, 4}));
  for (const char* text :
       {"", "log", "x*log10", "*log10", "fixed:", "-1", "4.5", "fixed:3*log10"}) {
    EXPECT_FALSE(ParseLogRule(text)) << text;
  }
}

}  // namespace
}  // namespace plimsoll
