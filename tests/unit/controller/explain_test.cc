#include "controller/src/explain.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "controller/src/explain_breaker.h"

namespace plimsoll::internal {
namespace {

Policy PolicyOf(AlgorithmKind kind) {
  Policy policy;
  policy.name = DependencyId("payments-api");
  policy.quota = 50;
  policy.algorithm.kind = kind;
  return policy;
}

LawDecision Decided(Calls before, Calls after, Reason reason) {
  LawDecision decision;
  decision.before = before;
  decision.after = after;
  decision.reason = reason;
  DecisionInputs& inputs = decision.inputs;
  inputs.latency = absl::Milliseconds(212);
  inputs.baseline = absl::Milliseconds(101);
  inputs.in_flight_max = 40;
  inputs.in_flight_mean = 38;
  inputs.samples = 480;
  inputs.length = absl::Seconds(1);
  inputs.throughput = 480;
  inputs.unclamped = after;
  return decision;
}

std::string Sentence(const Policy& policy, const LawDecision& decision) {
  return ExplainDecision(policy, InstanceId(), decision);
}

TEST(ExplainTest, LatencyIsComparedWithTheBaselineAndWhatIsTolerated) {
  EXPECT_EQ(
      Sentence(PolicyOf(AlgorithmKind::kGradient2), Decided(40, 36, Reason::kLatencyRose)),
      "payments-api: 40 → 36. 90th percentile latency 212 ms is 2.1 times the baseline 101 ms "
      "(tolerated: 1.5) in 480 calls over 1 s, 480 a second, at 38 in flight; lowered by "
      "10 %.");
}

TEST(ExplainTest, TheLawOfAnInstanceNamesIt) {
  EXPECT_EQ(
      ExplainDecision(PolicyOf(AlgorithmKind::kGradient2), InstanceId("checkout-3"),
                      Decided(40, 42, Reason::kLatencyFell)),
      "payments-api, checkout-3: 40 → 42. 90th percentile latency 212 ms is 2.1 times the "
      "baseline 101 ms (tolerated: 1.5) in 480 calls over 1 s, 480 a second, at 38 in flight; "
      "raised by 5 %.");
}

TEST(ExplainTest, TheSignalIsNamed) {
  LawDecision decision = Decided(40, 36, Reason::kTimeouts);
  const Policy policy = PolicyOf(AlgorithmKind::kAimd);
  const std::string rest =
      " latency 212 ms is above the threshold of 5 s in 480 calls over 1 s, 480 a second, at 38 in "
      "flight; lowered by 10 %.";
  decision.inputs.signal = LatencySignal::kMean;
  EXPECT_EQ(Sentence(policy, decision), "payments-api: 40 → 36. Mean" + rest);
  decision.inputs.signal = LatencySignal::kPercentile;
  const std::vector<std::pair<double, std::string>> names = {{0.51, "51st"}, {0.52, "52nd"},
                                                             {0.53, "53rd"}, {0.5, "50th"},
                                                             {0.11, "11th"}, {0.999, "99.9th"}};
  for (const auto& [percentile, name] : names) {
    decision.inputs.percentile = percentile;
    EXPECT_EQ(Sentence(policy, decision), "payments-api: 40 → 36. " + name + " percentile" + rest);
  }
}

TEST(ExplainTest, DropsAreCounted) {
  LawDecision decision = Decided(40, 36, Reason::kErrors);
  decision.inputs.failed = 48;
  EXPECT_EQ(Sentence(PolicyOf(AlgorithmKind::kAimd), decision),
            "payments-api: 40 → 36. 48 of 480 calls (10 %) were dropped by overload, tolerated are "
            "5 % in 480 calls over 1 s, 480 a second, at 38 in flight; lowered by 10 %.");
}

TEST(ExplainTest, TheCeilingOfTheLatencyIsNamedWhereItWasTheOverload) {
  Policy policy = PolicyOf(AlgorithmKind::kGradient2);
  policy.window.latency_ceiling = absl::Milliseconds(200);
  EXPECT_EQ(Sentence(policy, Decided(40, 36, Reason::kErrors)),
            "payments-api: 40 → 36. 90th percentile latency 212 ms is above the ceiling of 200 ms "
            "in 480 calls over 1 s, 480 a second, at 38 in flight; lowered by 10 %.");
}

TEST(ExplainTest, ABoundThatCutsAStepShortIsNamed) {
  const Policy policy = PolicyOf(AlgorithmKind::kGradient2);
  LawDecision decision = Decided(6, 5, Reason::kFloor);
  decision.inputs.unclamped = 3.25;
  EXPECT_NE(
      Sentence(policy, decision).find("the law wanted 3.25 and the floor of 5 binds; lowered"),
      std::string::npos);
  decision = Decided(50, 50, Reason::kCeiling);
  decision.inputs.unclamped = 54;
  EXPECT_NE(Sentence(policy, decision).find("the law wanted 54 and the quota of 50 binds; held."),
            std::string::npos);
  Policy unbounded = policy;
  unbounded.quota.reset();
  EXPECT_NE(Sentence(unbounded, decision).find("the ceiling of 200 binds; held."),
            std::string::npos);
}

TEST(ExplainTest, AnUnusedLimitIsHeld) {
  LawDecision decision = Decided(40, 40, Reason::kUnderused);
  decision.inputs.in_flight_max = 3;
  EXPECT_EQ(Sentence(PolicyOf(AlgorithmKind::kAimd), decision),
            "payments-api: 40. Only 3 of 40 were in use at once in 480 calls over 1 s, 480 a "
            "second, at 38 in flight; held.");
}

TEST(ExplainTest, TooFewSamplesAreHeld) {
  LawDecision decision = Decided(40, 40, Reason::kInitial);
  decision.outcome = WindowOutcome::kTooFewSamples;
  decision.inputs.samples = 7;
  decision.inputs.length = absl::Seconds(8);
  EXPECT_EQ(Sentence(PolicyOf(AlgorithmKind::kAimd), decision),
            "payments-api: 40. 7 calls ended in 8 s, and a decision needs 20; held.");
}

TEST(ExplainTest, AFixedLimitSaysSo) {
  EXPECT_EQ(Sentence(PolicyOf(AlgorithmKind::kFixed), Decided(20, 20, Reason::kInitial)),
            "payments-api: 20. The limit is fixed; held.");
}

TEST(ExplainTest, ThePoolLawTellsTheElasticityWithItsError) {
  LawDecision decision = Decided(40, 44, Reason::kThroughputGrew);
  KneeDecision& knee = decision.knee.emplace();
  knee.outcome = KneeOutcome::kRaised;
  knee.before = 40;
  knee.after = 44;
  knee.elasticity = 0.62;
  knee.elasticity_error = 0.04;
  knee.samples = 480;
  knee.in_flight = 38;
  knee.latency = absl::Milliseconds(80);
  const std::string sentence = Sentence(PolicyOf(AlgorithmKind::kFleetKnee), decision);
  EXPECT_NE(sentence.find("1 % more in flight brings 0.62 ± 0.04 % more throughput"),
            std::string::npos)
      << sentence;
  EXPECT_NE(sentence.find("raised by 10 %"), std::string::npos) << sentence;
}

TEST(ExplainTest, WhatIsOnlyObservedSaysSo) {
  Policy policy = PolicyOf(AlgorithmKind::kFixed);
  policy.mode = Mode::kObserve;
  EXPECT_EQ(Sentence(policy, Decided(20, 20, Reason::kInitial)),
            "payments-api: 20. The limit is fixed; held. Only observed: nothing is enforced.");
}

TEST(ExplainTest, AShareNamesTheDecisionItFollowsFrom) {
  ShareChange change{InstanceId("checkout-3"), 10, 9, Reason::kLatencyRose, 12, 61, 36, "7-102"};
  EXPECT_EQ(ExplainShare(change),
            "checkout-3: 10 → 9 (LATENCY_ROSE), its share of 36; it could use 12, all together 61. "
            "Decision 7-102 says why.");
  change.decision.clear();
  EXPECT_EQ(
      ExplainShare(change),
      "checkout-3: 10 → 9 (LATENCY_ROSE), its share of 36; it could use 12, all together 61.");
}

BreakerDecision OpenedBy(BreakerRule rule, int instances) {
  BreakerDecision decision;
  decision.rule = rule;
  decision.evidence = {
      .succeeded = 40, .failed = 58, .slow = 30, .hanging = 2, .failures_in_a_row = 7};
  decision.instances = instances;
  return decision;
}

BreakerDecision Later(BreakerDecision::Kind kind, absl::Duration open_for, int probes_failed) {
  BreakerDecision decision;
  decision.kind = kind;
  decision.open_for = open_for;
  decision.probes_failed = probes_failed;
  return decision;
}

TEST(ExplainBreakerTest, EveryDecisionIsASentenceWithItsEvidence) {
  using Kind = BreakerDecision::Kind;
  BreakerSettings settings;
  settings.rules.failure_rate = 0.5;
  settings.rules.slow_rate = 0.25;
  settings.slow_after = absl::Milliseconds(1500);
  settings.window = absl::Seconds(10);
  const std::vector<std::pair<BreakerDecision, std::string>> cases = {
      {OpenedBy(BreakerRule::kFailuresInARow, 1),
       "9 calls of 1 instance failed or hung with no success between: the breaker of payments-api "
       "is open everywhere for 4s."},
      {OpenedBy(BreakerRule::kFailureRate, 3),
       "60 of 100 calls of 3 instances within 10s failed or hung, where 0.5 is too many: the "
       "breaker of payments-api is open everywhere for 4s."},
      {OpenedBy(BreakerRule::kSlowRate, 3),
       "32 of 100 calls of 3 instances within 10s took longer than 1.5s, where 0.25 is too many: "
       "the breaker of payments-api is open everywhere for 4s."},
      {Later(Kind::kReopened, absl::Milliseconds(2100), 1),
       "The probe of checkout-0 failed: the breaker of payments-api stays open for 4s, after 2.1s "
       "and 1 failed probe."},
      {Later(Kind::kClosed, absl::Seconds(14), 2),
       "The probe of checkout-0 succeeded: the breaker of payments-api is closed everywhere, after "
       "14s and 2 failed probes."},
      {Later(Kind::kClosed, absl::Seconds(2), 0),
       "The probe of checkout-0 succeeded: the breaker of payments-api is closed everywhere, after "
       "2s without a probe that failed."},
      {Later(Kind::kInherited, absl::ZeroDuration(), 0),
       "The breaker of payments-api was open in the reign before, and stays so for 4s."},
  };
  for (auto [decision, sentence] : cases) {
    decision.cool_off = absl::Seconds(4);
    EXPECT_EQ(
        ExplainBreaker(DependencyId("payments-api"), settings, decision, InstanceId("checkout-0")),
        sentence);
  }
}

}  // namespace
}  // namespace plimsoll::internal
