#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/algorithms/laws.h"

namespace plimsoll {
namespace {

constexpr absl::Duration kFast = absl::Milliseconds(10);
constexpr double kFastNs = 10e6;

AlgorithmConfig Config(Calls floor, Calls initial, Calls ceiling) {
  return ConfigOf(AlgorithmKind::kGradient, floor, initial, ceiling);
}

GradientState Learnt(double estimate) {
  return {.estimated_limit = estimate, .baseline_ns = kFastNs, .probe_countdown = 1'000};
}

GradientState& Own(LawState& state) { return std::get<GradientState>(state); }

// At 100 the queue is 10, the tolerance 2 and the smoothing 0.2.
TEST(GradientTest, AddsTheQueueOrShrinksWithTheGradient) {
  struct Case {
    double latency;  // in baselines
    double wanted;
    double gradient;
    Reason reason;
  };
  const std::vector<Case> cases = {{1, 110, 1, Reason::kLatencyFell},
                                   {2, 110, 1, Reason::kLatencyFell},
                                   {2.5, 96, 0.8, Reason::kLatencyRose},
                                   {4, 90, 0.5, Reason::kLatencyRose},
                                   {100, 90, 0.5, Reason::kLatencyRose}};
  const auto law = LawOf(Config(1, 100, 200));
  for (const Case& test : cases) {
    LawState state = Learnt(100);
    const Decision decision = law->Decide(state, Saw(test.latency * kFast, 100));
    EXPECT_DOUBLE_EQ(decision.unclamped, test.wanted) << test.latency;
    EXPECT_DOUBLE_EQ(decision.gradient, test.gradient) << test.latency;
    EXPECT_EQ(decision.reason, test.reason) << test.latency;
    EXPECT_EQ(decision.baseline, kFast);
  }
}

TEST(GradientTest, TakesAFixedQueue) {
  AlgorithmConfig config = Config(1, 100, 200);
  config.gradient.queue_by_square_root = false;
  const auto law = LawOf(config);
  LawState state = Learnt(100);
  EXPECT_EQ(law->Decide(state, Saw(kFast, 100)).limit, 104);
}

TEST(GradientTest, CutsOnDropsWithoutLearning) {
  const auto law = LawOf(Config(1, 100, 200));
  LawState state = Learnt(100);
  const Decision decision = law->Decide(state, Saw(kFast / 100, 0, true));
  EXPECT_DOUBLE_EQ(decision.unclamped, 98);  // 100 * 0.8 + 90 * 0.2
  EXPECT_EQ(decision.reason, Reason::kErrors);
  EXPECT_EQ(Own(state).baseline_ns, kFastNs);
}

TEST(GradientTest, StaysWhileLessThanHalfIsInUse) {
  const auto law = LawOf(Config(1, 100, 200));
  LawState state = Learnt(100);
  EXPECT_EQ(law->Decide(state, Saw(kFast, 49)).reason, Reason::kUnderused);
  EXPECT_EQ(law->Decide(state, Saw(kFast, 50)).reason, Reason::kLatencyFell);
}

TEST(GradientTest, LetsTheBaselineRiseOnlyWhenDueAndHalfOfTheLimitIsIdle) {
  const auto law = LawOf(Config(1, 100, 200));
  GradientState due = Learnt(100);
  due.probe_countdown = 0;
  LawState state = due;
  law->Decide(state, Saw(4 * kFast, 100));
  EXPECT_EQ(Own(state).baseline_ns, kFastNs);
  Observation idle = Saw(4 * kFast, 10);
  idle.draw = 0.25;
  law->Decide(state, idle);
  EXPECT_EQ(Own(state).baseline_ns, 2 * kFastNs);
  EXPECT_EQ(Own(state).probe_countdown, 1'250);
}

TEST(GradientTest, AnIntervalThatWasShortenedHoldsForTheProbeThatIsScheduled) {
  AlgorithmConfig config = Config(1, 100, 200);
  config.gradient.probe_interval = 5;
  const auto law = LawOf(config);
  LawState state = Learnt(100);
  for (int i = 0; i < 10; ++i) law->Decide(state, Saw(2 * kFast, 0));
  EXPECT_EQ(Own(state).baseline_ns, kFastNs);
  for (int i = 0; i < 2; ++i) law->Decide(state, Saw(2 * kFast, 0));
  EXPECT_GT(Own(state).baseline_ns, kFastNs);
}

TEST(GradientTest, LearnsAnewAfterFiveObservationsAtTheFloor) {
  AlgorithmConfig config = Config(10, 10, 200);
  config.gradient.probe_interval = -1;
  const auto law = LawOf(config);
  LawState state = Learnt(10);
  for (int i = 0; i < 5; ++i) law->Decide(state, Saw(4 * kFast, 10));
  EXPECT_EQ(Own(state).baseline_ns, kFastNs);
  law->Decide(state, Saw(4 * kFast, 10));
  EXPECT_EQ(Own(state).baseline_ns, 2 * kFastNs);
  EXPECT_GT(law->Limit(state), 10);
}

TEST(GradientTest, TakesAPinnedBaselineForGranted) {
  AlgorithmConfig config = Config(1, 100, 200);
  config.gradient.fixed_baseline = kFast;
  const auto law = LawOf(config);
  LawState state = law->InitialState();
  EXPECT_EQ(law->Decide(state, Saw(4 * kFast, 100)).limit, 90);
}

TEST(GradientTest, DipsToTheQueueWhenTheCountdownEndsInReferenceExactMode) {
  AlgorithmConfig config = Config(1, 100, 200);
  config.reference_exact = true;
  config.gradient.pin_probe_countdown = 1;
  const auto law = LawOf(config);
  LawState state = law->InitialState();
  EXPECT_EQ(law->Decide(state, Saw(kFast, 10)).limit, 100);
  EXPECT_EQ(law->Decide(state, Saw(kFast, 10)).limit, 10);
  EXPECT_EQ(Own(state).baseline_ns, 0);
  EXPECT_EQ(Own(state).probe_countdown, 1);
}

TEST(GradientTest, IsStuckAtZeroAfterAFirstLatencyOfZeroInReferenceExactModeOnly) {
  AlgorithmConfig config = Config(1, 20, 200);
  config.gradient.probe_interval = -1;
  const auto ours = LawOf(config);
  config.reference_exact = true;
  const auto reference = LawOf(config);
  LawState state = reference->InitialState();
  reference->Decide(state, Saw(absl::ZeroDuration(), 20));
  EXPECT_EQ(reference->Decide(state, Saw(kFast, 20)).limit, 0);
  state = ours->InitialState();
  ours->Decide(state, Saw(absl::ZeroDuration(), 20));
  EXPECT_EQ(ours->Decide(state, Saw(kFast, 20)).limit, 24);
}

}  // namespace
}  // namespace plimsoll
