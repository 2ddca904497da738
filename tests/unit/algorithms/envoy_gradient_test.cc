#include <algorithm>
#include <array>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/algorithms/laws.h"

namespace plimsoll {
namespace {

constexpr absl::Duration kFast = absl::Milliseconds(10);

AlgorithmConfig Config(Calls floor, Calls initial, Calls ceiling) {
  return ConfigOf(AlgorithmKind::kEnvoyGradient, floor, initial, ceiling);
}

AlgorithmConfig Pinned(Calls floor, Calls initial, Calls ceiling) {
  AlgorithmConfig config = Config(floor, initial, ceiling);
  config.envoy_gradient.fixed_baseline = kFast;
  return config;
}

// A tenth of a second with so many calls.
Observation Window(absl::Duration latency, Calls in_flight, std::int64_t samples = 50) {
  return {.latency = latency,
          .in_flight = in_flight,
          .samples = samples,
          .length = absl::Milliseconds(100),
          .elapsed = absl::Milliseconds(100)};
}

EnvoyGradientState& Own(LawState& state) { return std::get<EnvoyGradientState>(state); }

// By hand, with a baseline of 10 ms and a buffer of 0.25.
TEST(EnvoyGradientTest, ScalesTheLimitAndAddsItsSquareRoot) {
  struct Case {
    Calls limit;
    double latency_ms;
    Calls next;
    Reason reason;
  };
  const std::vector<Case> cases = {
      {100, 12.5, 110, Reason::kLatencyFell},  // g = 1: 100 + 10
      {100, 10, 136, Reason::kLatencyFell},    // g = 1.25: 125 + 11.18
      {100, 5, 214, Reason::kLatencyFell},     // g = 2 at most: 200 + 14.14
      {100, 25, 57, Reason::kLatencyRose},     // g = 0.5: 50 + 7.07
      {100, 1'000, 57, Reason::kLatencyRose},  // g = 0.5 at least
      {4, 25, 3, Reason::kLatencyRose},        // 2 + 1.41
      {64, 20, 46, Reason::kLatencyRose},      // g = 0.625: 40 + 6.32
  };
  const auto law = LawOf(Pinned(1, 100, 1'000));
  for (const Case& test : cases) {
    LawState state = EnvoyGradientState{.limit = static_cast<double>(test.limit)};
    const Decision decision =
        law->Decide(state, Window(absl::Milliseconds(test.latency_ms), test.limit));
    EXPECT_EQ(decision.limit, test.next) << test.latency_ms;
    EXPECT_EQ(decision.reason, test.reason) << test.latency_ms;
    EXPECT_EQ(decision.baseline, kFast);
  }
}

TEST(EnvoyGradientTest, IsTheSameFormulaInReferenceExactMode) {
  AlgorithmConfig config = Pinned(3, 100, 1'000);
  config.reference_exact = true;
  const auto law = LawOf(config);
  LawState state = law->InitialState();
  EXPECT_EQ(law->Decide(state, Window(kFast, 0)).limit, 136);     // use is not looked at
  EXPECT_EQ(law->Decide(state, Window(2 * kFast, 0)).limit, 94);  // 85 + 9.2
}

// The original: the floor until enough calls have ended, then on from where it was.
TEST(EnvoyGradientTest, ProbesAtTheFloorInReferenceExactMode) {
  AlgorithmConfig config = Config(3, 100, 1'000);
  config.reference_exact = true;
  config.envoy_gradient.probe.interval = absl::Seconds(1);
  const auto law = LawOf(config);
  LawState state = law->InitialState();
  EXPECT_EQ(law->Limit(state), 3);
  EXPECT_EQ(law->Decide(state, Window(kFast, 3, 30)).reason, Reason::kProbe);
  law->Decide(state, Window(2 * kFast, 3, 30));
  EXPECT_EQ(Own(state).baseline_ns, 15e6);  // of both windows
  for (int i = 0; i < 10; ++i) law->Decide(state, Window(kFast, 3));
  EXPECT_GT(law->Limit(state), 3);
  EXPECT_EQ(law->Decide(state, Window(kFast, 3)).limit, 3);  // after 1 s + 0.5 * 15 %
}

TEST(EnvoyGradientTest, StaysWhileLessThanHalfIsInUse) {
  const auto law = LawOf(Pinned(1, 100, 1'000));
  LawState state = law->InitialState();
  EXPECT_EQ(law->Decide(state, Window(kFast, 49)).reason, Reason::kUnderused);
  EXPECT_EQ(law->Decide(state, Window(10 * kFast, 49)).reason, Reason::kUnderused);
  EXPECT_EQ(law->Decide(state, Window(kFast, 50)).limit, 136);
}

TEST(EnvoyGradientTest, CutsOnDrops) {
  const auto law = LawOf(Pinned(1, 100, 1'000));
  LawState state = law->InitialState();
  Observation dropped = Window(kFast, 0);
  dropped.dropped = true;
  EXPECT_EQ(law->Decide(state, dropped).limit, 90);
  EXPECT_EQ(law->Decide(state, dropped).reason, Reason::kErrors);
}

TEST(EnvoyGradientTest, HalvesUntilHalvingNoLongerShortensTheLatency) {
  const auto law = LawOf(Config(1, 160, 1'000));
  LawState state = law->InitialState();
  // A knee of 50: 160 calls take 32 ms, 80 take 16, 40 and fewer 10.
  EXPECT_EQ(law->Decide(state, Window(3.2 * kFast, 160)).limit, 80);
  EXPECT_EQ(law->Decide(state, Window(3.2 * kFast, 160)).limit, 80);  // some from before
  EXPECT_EQ(law->Decide(state, Window(1.6 * kFast, 80)).limit, 40);
  EXPECT_EQ(law->Decide(state, Window(kFast, 40, 25)).limit, 40);  // not enough calls yet
  const Decision last = law->Decide(state, Window(kFast, 40, 25));
  EXPECT_EQ(last.limit, 160);
  EXPECT_EQ(last.reason, Reason::kProbe);
  EXPECT_EQ(Own(state).baseline_ns, 10e6);
}

TEST(EnvoyGradientTest, ProbesNoLowerThanTheProbeLimitOrTheFloor) {
  for (const auto& [floor, probe_limit, lowest] :
       std::vector<std::array<Calls, 3>>{{5, 30, 30}, {40, 30, 40}}) {
    AlgorithmConfig config = Config(floor, 100, 1'000);
    config.envoy_gradient.probe.limit = probe_limit;
    const auto law = LawOf(config);
    LawState state = law->InitialState();
    Calls seen = 100;
    // Every halving seems to help.
    for (absl::Duration latency = absl::Seconds(1); latency > kFast; latency /= 2) {
      const Calls limit = law->Decide(state, Window(latency, law->Limit(state))).limit;
      if (!(std::get<EnvoyGradientState>(state).probe.limit > 0)) break;
      seen = std::min(seen, limit);
    }
    EXPECT_EQ(seen, lowest);
  }
}

TEST(EnvoyGradientTest, GivesAProbeUpOnDropsAndKeepsTheBaseline) {
  const auto law = LawOf(Config(1, 160, 1'000));
  LawState state = law->InitialState();
  law->Decide(state, Window(3 * kFast, 160));
  Observation dropped = Window(kFast / 10, 80);
  dropped.dropped = true;
  const Decision decision = law->Decide(state, dropped);
  EXPECT_EQ(decision.limit, 79);
  EXPECT_EQ(decision.reason, Reason::kErrors);
  EXPECT_EQ(Own(state).baseline_ns, 30e6);
}

TEST(EnvoyGradientTest, GivesAProbeUpThatSeesTooFewCalls) {
  const auto law = LawOf(Config(1, 160, 1'000));
  LawState state = law->InitialState();
  law->Decide(state, Window(kFast, 160));
  for (int i = 0; i < 30; ++i) law->Decide(state, Window(kFast, 10, 1));
  EXPECT_EQ(law->Limit(state), 80);
  EXPECT_EQ(law->Decide(state, Window(kFast, 10, 1)).limit, 160);
}

TEST(EnvoyGradientTest, ProbesAgainAfterTheIntervalOnlyWhenTheLimitIsInUse) {
  AlgorithmConfig config = Config(20, 20, 1'000);
  config.envoy_gradient.probe.interval = absl::Seconds(1);
  const auto law = LawOf(config);
  LawState state = EnvoyGradientState{
      .limit = 100, .baseline_ns = 10e6, .probe = ProbeState{.due_in_ns = 250e6}};
  for (int i = 0; i < 10; ++i) law->Decide(state, Window(kFast, 10));
  EXPECT_EQ(law->Limit(state), 100);
  const Decision decision = law->Decide(state, Window(kFast, 100));
  EXPECT_EQ(decision.limit, 50);
  EXPECT_EQ(decision.reason, Reason::kProbe);
}

TEST(EnvoyGradientTest, AnIntervalThatWasShortenedHoldsForTheProbeThatIsScheduled) {
  AlgorithmConfig config = Config(20, 20, 1'000);
  config.envoy_gradient.probe.interval = absl::Seconds(1);
  config.envoy_gradient.probe.jitter = 0.5;
  const auto law = LawOf(config);
  LawState state = EnvoyGradientState{
      .limit = 100, .baseline_ns = 10e6, .probe = ProbeState{.due_in_ns = 3600e9}};
  int windows = 0;  // of 100 ms
  while (Own(state).probe.limit == 0 && windows < 1'000) {
    law->Decide(state, Window(kFast, 1'000));
    ++windows;
  }
  EXPECT_LE(windows, 16) << "after 1.5 s a probe must run";
}

TEST(EnvoyGradientTest, ProbesAtOnceWhenStuckAtTheFloor) {
  const auto law = LawOf(Config(20, 20, 1'000));
  LawState state =
      EnvoyGradientState{.limit = 20, .baseline_ns = 1e6, .probe = ProbeState{.due_in_ns = 60e9}};
  for (int i = 0; i < 6; ++i) law->Decide(state, Window(kFast, 20));
  law->Decide(state, Window(kFast, 20));
  EXPECT_EQ(Own(state).baseline_ns, 10e6);
  EXPECT_GT(law->Decide(state, Window(kFast, 20)).limit, 20);
}

}  // namespace
}  // namespace plimsoll
