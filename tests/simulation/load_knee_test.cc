// fleet_knee in the real controller, with real agents.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/simulation/load_test_scenarios.h"

namespace plimsoll {
namespace {

LawUnderTest Knee() {
  LawUnderTest law;
  law.name = "fleet_knee";
  law.algorithm.kind = AlgorithmKind::kFleetKnee;
  law.algorithm.initial = 20;
  return law;
}

// Three replicas, 2400 calls a second in all, light load and then twice what they can do.
LoadScenario Replicas() {
  LoadScenario scenario = SmallScenario(0.5);
  scenario.replicas = 3;
  scenario.deadline = absl::Milliseconds(40);
  scenario.length = absl::Seconds(18);
  scenario.phases.push_back(PhaseAt(6, 2));
  return scenario;
}

LoadScenario Clients() {
  LoadScenario scenario = Replicas();
  scenario.shared = true;
  scenario.station.servers = 12;
  scenario.policy.quota = 60;
  return scenario;
}

PhaseScore ScoreLast(const LoadScenario& scenario, const LoadRun& run) {
  const std::size_t last = scenario.phases.size() - 1;
  std::vector<LoadSample> samples;
  for (const LoadSample& sample : run.samples) {
    if (sample.at >= scenario.phases[last].start) samples.push_back(sample);
  }
  return Score(run.phases[last], samples, FindOptimum(scenario, last));
}

TEST(LoadKneeTest, ReplicasInFrontOfTheirOwnStationsFindTheirKnee) {
  const LoadScenario scenario = Replicas();
  const PhaseScore score = ScoreLast(scenario, RunOf(scenario, Knee()));
  EXPECT_GE(score.goodput, 0.93);
  EXPECT_LE(score.p99, 1.6);
}

TEST(LoadKneeTest, ClientsOfOneDependencyFindItsKneeTogetherWithinTheQuota) {
  const LoadScenario scenario = Clients();
  const LoadRun run = RunOf(scenario, Knee());
  const PhaseScore score = ScoreLast(scenario, run);
  EXPECT_GE(score.goodput, 0.93);
  EXPECT_GE(score.fairness, 0.95);
  EXPECT_EQ(run.quota_violations, 0);
}

TEST(LoadKneeTest, ACapacityThatHalvesIsFollowed) {
  LoadScenario scenario = Replicas();
  scenario.length = absl::Seconds(26);
  LoadPhase halved = PhaseAt(14, 2);
  halved.servers = 2;
  scenario.phases.push_back(halved);
  EXPECT_GE(ScoreLast(scenario, RunOf(scenario, Knee())).goodput, 0.9);
}

// A crashed replica is not waited for for ever, and what it holds is not given away.
TEST(LoadKneeTest, TheLawGoesOnWhenAReplicaCrashes) {
  LoadScenario scenario = Clients();
  scenario.crashes.push_back({absl::Seconds(8), 1, absl::Seconds(60)});
  const LoadRun run = RunOf(scenario, Knee());
  EXPECT_EQ(run.quota_violations, 0);
  const bool decided = std::ranges::any_of(run.decisions, [](const LogEvent& event) {
    return event.type == EventType::kLimitChanged && event.at > Instant{} + absl::Seconds(14);
  });
  EXPECT_TRUE(decided);
}

TEST(LoadKneeTest, EveryDecisionHasItsSentence) {
  const LoadRun run = RunOf(Replicas(), Knee());
  int decisions = 0;
  for (const LogEvent& event : run.decisions) {
    if (event.type != EventType::kDecision) continue;
    ++decisions;
    EXPECT_NE(event.message.find("calls in"), std::string::npos) << event.message;
    EXPECT_NE(event.from, event.to);
  }
  EXPECT_GT(decisions, 0);
}

}  // namespace
}  // namespace plimsoll
