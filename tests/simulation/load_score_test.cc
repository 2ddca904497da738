#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/simulation/load_test_scenarios.h"

namespace plimsoll {
namespace {

// A station of one replica, small enough that limits are tried fast.
LoadScenario Trial(double load) {
  LoadScenario scenario = SmallScenario(load);
  scenario.station.service = absl::Milliseconds(20);
  scenario.deadline = absl::Milliseconds(120);
  return scenario;
}

// Theory: all servers and the delay filled, and a cushion against chance.
void ExpectInBand(Calls limit, const Station& station) {
  const double capacity = station.servers / absl::ToDoubleSeconds(station.service);
  const double full = station.servers + capacity * absl::ToDoubleSeconds(station.delay);
  EXPECT_GE(limit, full);
  EXPECT_LE(limit, full + 3.5 * std::sqrt(full));
}

TEST(FindOptimumTest, LiesWhereTheorySaysInFrontOfAQueue) {
  const LoadScenario scenario = Trial(2);
  const Optimum optimum = FindOptimum(scenario, 0);
  ExpectInBand(optimum.limit, scenario.station);
  EXPECT_NEAR(optimum.good, 200, 10);
}

TEST(FindOptimumTest, LiesWhereTheorySaysBehindADelay) {
  LoadScenario scenario = Trial(2);
  scenario.station.discipline = Discipline::kSharing;
  scenario.station.delay = absl::Milliseconds(80);
  scenario.deadline = absl::Milliseconds(350);
  ExpectInBand(FindOptimum(scenario, 0).limit, scenario.station);
}

TEST(FindOptimumTest, FollowsTheChangesOfThePhases) {
  LoadScenario scenario = Trial(2);
  scenario.phases.push_back(PhaseAt(10, 2));
  scenario.phases.back().servers = 8;
  const Optimum before = FindOptimum(scenario, 0);
  const Optimum after = FindOptimum(scenario, 1);
  EXPECT_GT(after.limit, before.limit);
  EXPECT_NEAR(after.good, 2 * before.good, 0.06 * after.good);
}

TEST(FindOptimumTest, StaysWithinTheQuota) {
  LoadScenario scenario = Trial(2);
  scenario.replicas = 2;
  scenario.policy.quota = 6;
  EXPECT_EQ(FindOptimum(scenario, 0).limit, 3);
}

TEST(FindOptimumTest, TakesEveryReplicaAsThereAndTheLoadAsEven) {
  LoadScenario scenario = Trial(2);
  scenario.replicas = 2;
  const Optimum even = FindOptimum(scenario, 0);
  scenario.traffic = {0.9};
  scenario.late_replica = 1;
  scenario.late_at = absl::Seconds(15);
  scenario.crashes = {{absl::Seconds(1), 0, absl::Seconds(10)}};
  const Optimum faulty = FindOptimum(scenario, 0);
  EXPECT_EQ(faulty.limit, even.limit);
  EXPECT_EQ(faulty.good, even.good);
}

// A phase from 10 s to 20 s whose samples are all as good as the optimum, with its limit.
struct Case {
  PhaseResult phase;
  std::vector<LoadSample> samples;
  Optimum optimum;

  Case() {
    optimum = {10, 100, absl::Milliseconds(50)};
    phase.start = absl::Seconds(10);
    phase.length = absl::Seconds(10);
    phase.good = 100;
    phase.latency_p99 = absl::Milliseconds(50);
    phase.limit_mean = 10;
    phase.limit_max = 10;
    for (int i = 1; i <= 40; ++i) {
      LoadSample sample;
      sample.at = absl::Milliseconds(500) * i;
      sample.offered = 200;
      sample.good = 100;
      sample.rejected = 100;
      sample.limit = 10;
      samples.push_back(sample);
    }
  }
  // Of the samples of the phase, the first `count`.
  void Spoil(int count) {
    for (int i = 0; i < count; ++i) samples[static_cast<std::size_t>(20 + i)].good = 50;
  }
  PhaseScore Scored() const { return Score(phase, samples, optimum); }
};

TEST(ScoreTest, TheOptimumScoresOne) {
  const PhaseScore score = Case().Scored();
  EXPECT_EQ(score.goodput, 1);
  EXPECT_EQ(score.p99, 1);
  EXPECT_EQ(score.limit, 1);
  EXPECT_EQ(score.overshoot, 1);
  EXPECT_EQ(score.oscillation, 0);
  EXPECT_EQ(score.probe_cost, 0);
  EXPECT_TRUE(score.converged);
  EXPECT_EQ(score.to_90, absl::ZeroDuration());
}

TEST(ScoreTest, ComparesWithTheOptimum) {
  Case one;
  one.phase.good = 80;
  one.phase.latency_p99 = absl::Milliseconds(75);
  one.phase.limit_mean = 20;
  one.phase.limit_deviation = 5;
  one.phase.limit_max = 40;
  const PhaseScore score = one.Scored();
  EXPECT_DOUBLE_EQ(score.goodput, 0.8);
  EXPECT_DOUBLE_EQ(score.p99, 1.5);
  EXPECT_DOUBLE_EQ(score.limit, 2);
  EXPECT_DOUBLE_EQ(score.overshoot, 4);
  EXPECT_DOUBLE_EQ(score.oscillation, 0.25);
}

TEST(ScoreTest, HasConvergedWhenThreeGoodSecondsBegin) {
  Case one;
  one.Spoil(5);
  EXPECT_EQ(one.Scored().to_90, absl::Milliseconds(2500));
  one.Spoil(14);
  EXPECT_EQ(one.Scored().to_90, absl::Seconds(7));
}

TEST(ScoreTest, NeverConvergesInLessThanThreeGoodSeconds) {
  Case one;
  one.Spoil(15);
  EXPECT_FALSE(one.Scored().converged);
  EXPECT_EQ(one.Scored().to_90, absl::Seconds(10));
}

TEST(ScoreTest, LooksOnlyAtThePhase) {
  Case one;
  for (int i = 0; i < 20; ++i) one.samples[static_cast<std::size_t>(i)].good = 0;
  EXPECT_EQ(one.Scored().to_90, absl::ZeroDuration());
}

TEST(ScoreTest, ProbingCostsWhatTheOptimumWouldNotHaveRefused) {
  Case one;
  for (LoadSample& sample : one.samples) {
    sample.limit = 8;
    sample.rejected = 120;
  }
  EXPECT_DOUBLE_EQ(one.Scored().probe_cost, 0.1);
}

TEST(IsOverloadTest, ComparesWithWhatTheDependencyCanDoThen) {
  LoadScenario scenario = Trial(1);
  scenario.phases.push_back(PhaseAt(5, 1));
  scenario.phases.back().servers = 2;
  scenario.phases.push_back(PhaseAt(10, 1.5));
  scenario.phases.back().replicas = 4;
  EXPECT_FALSE(IsOverload(scenario, 0));
  EXPECT_TRUE(IsOverload(scenario, 1));
  EXPECT_FALSE(IsOverload(scenario, 2));
}

TEST(IsOverloadTest, CountsTheWeakReplica) {
  LoadScenario scenario = Trial(0.9);
  EXPECT_FALSE(IsOverload(scenario, 0));
  scenario.slow_replica_servers = 1;
  EXPECT_TRUE(IsOverload(scenario, 0));
}

TEST(SuiteLawsTest, HaveTheirOwnNamesAndTheScenariosDeadline) {
  LoadScenario scenario = Trial(1);
  scenario.deadline = absl::Milliseconds(77);
  std::set<std::string> names;
  for (const LawUnderTest& law : SuiteLaws(scenario)) {
    names.insert(law.name);
    EXPECT_EQ(law.algorithm.aimd.latency_threshold, absl::Milliseconds(77));
  }
  EXPECT_EQ(names.size(), SuiteLaws().size());
  for (const char* name : {"unlimited", "aimd", "gradient2", "fleet_knee"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

}  // namespace
}  // namespace plimsoll
