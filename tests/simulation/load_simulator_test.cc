#include <algorithm>
#include <numeric>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/simulation/load_test_scenarios.h"

namespace plimsoll {
namespace {

using ::testing::Each;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;

const LoadSample& SampleAt(const LoadRun& run, double seconds) {
  return run.samples[static_cast<std::size_t>(2 * seconds) - 1];
}

LoadScenario Fleet(int replicas, double load) {
  LoadScenario scenario = SmallScenario(load);
  scenario.station.service = absl::Milliseconds(50);
  scenario.replicas = replicas;
  return scenario;
}

// Clients of one dependency, with a quota on all of them.
LoadScenario Shared(int clients, Calls quota, double load) {
  LoadScenario scenario = Fleet(clients, load);
  scenario.shared = true;
  scenario.policy.quota = quota;
  scenario.policy.call_deadline = absl::Seconds(2);
  return scenario;
}

LawUnderTest Aimd(absl::Duration threshold) {
  LawUnderTest law;
  law.name = "aimd";
  law.algorithm.kind = AlgorithmKind::kAimd;
  law.algorithm.aimd.latency_threshold = threshold;
  return law;
}

TEST(LoadSimulatorTest, SameSeedSameRun) {
  const LoadScenario scenario = Fleet(4, 1.5);
  const LoadRun one = RunOf(scenario, Aimd(absl::Milliseconds(100)));
  const LoadRun two = RunOf(scenario, Aimd(absl::Milliseconds(100)));
  EXPECT_EQ(one.good, two.good);
  EXPECT_EQ(one.messages, two.messages);
  EXPECT_EQ(one.decisions.size(), two.decisions.size());
  EXPECT_TRUE(std::equal(one.samples.begin(), one.samples.end(), two.samples.begin(),
                         two.samples.end(), [](const LoadSample& a, const LoadSample& b) {
                           return a.limits == b.limits && a.completed == b.completed &&
                                  a.latency_mean == b.latency_mean;
                         }));
}

TEST(LoadSimulatorTest, AnotherSeedAnotherRun) {
  const LoadScenario scenario = Fleet(2, 1.5);
  LoadOptions options;
  const LoadRun one = SimulateLoad(scenario, StaticLaw(5), options);
  ++options.seed;
  const LoadRun two = SimulateLoad(scenario, StaticLaw(5), options);
  EXPECT_NE(one.calls, two.calls);
}

TEST(LoadSimulatorTest, EveryCallComesToSomething) {
  LoadScenario scenario = Fleet(4, 1.5);
  scenario.retries = 2;
  scenario.deadline = absl::Milliseconds(60);
  scenario.crashes = {{absl::Seconds(5), 1, absl::Seconds(5)}};
  for (const LawUnderTest& law : {StaticLaw(8), FixedLaw(8)}) {
    const LoadRun run = RunOf(scenario, law);
    for (const std::int64_t count : {run.good, run.late, run.rejected, run.lost, run.open}) {
      EXPECT_GT(count, 0) << law.name;
    }
    EXPECT_EQ(run.calls, run.good + run.late + run.rejected + run.lost + run.open) << law.name;
    EXPECT_LE(run.open - run.samples.back().in_flight, run.refusals) << law.name;
  }
}

TEST(LoadSimulatorTest, OffersWhatThePhaseSays) {
  LoadScenario scenario = Fleet(4, 0.5);
  scenario.phases.push_back(PhaseAt(10, 2));
  const LoadRun run = RunOf(scenario, StaticLaw(4));
  EXPECT_NEAR(run.phases[0].offered, 0.5 * 4 * 80, 12);
  EXPECT_NEAR(run.phases[1].offered, 2 * 4 * 80, 40);
}

TEST(LoadSimulatorTest, APhaseOfNoLoadIsSilent) {
  LoadScenario scenario = SmallScenario(0.5);
  scenario.phases.push_back(PhaseAt(5, 0));
  scenario.phases.push_back(PhaseAt(10, 0.5));
  const LoadRun run = RunOf(scenario, StaticLaw(4));
  EXPECT_EQ(run.phases[1].offered, 0);
  EXPECT_GT(run.phases[2].offered, 0);
}

TEST(LoadSimulatorTest, APhaseChangesTheStation) {
  LoadScenario scenario = SmallScenario(2);
  scenario.phases.push_back(PhaseAt(10, 2));
  scenario.phases.back().servers = 2;
  const LoadRun run = RunOf(scenario, StaticLaw(10));
  EXPECT_NEAR(run.phases[1].good, run.phases[0].good / 2, 30);
}

TEST(LoadSimulatorTest, GrantsReachEachReplicaAndHold) {
  const LoadRun run = RunOf(Fleet(3, 4), FixedLaw(7));
  EXPECT_EQ(run.samples.back().limits, 21);
  EXPECT_EQ(run.samples.back().limit, 7);
  EXPECT_EQ(run.in_flight_max, 21);
  EXPECT_EQ(run.grants, 3);
  EXPECT_EQ(run.decisions.size(), 3);
}

TEST(LoadSimulatorTest, AStaticLimitNeedsNoController) {
  const LoadRun run = RunOf(Fleet(3, 4), StaticLaw(7));
  EXPECT_EQ(run.in_flight_max, 21);
  EXPECT_EQ(run.messages, 0);
  EXPECT_THAT(run.decisions, IsEmpty());
}

TEST(LoadSimulatorTest, TheRealLimiterRefusesWhatAPlainCounterWould) {
  const LoadScenario scenario = Fleet(1, 2);
  const LoadRun fixed = RunOf(scenario, FixedLaw(7));
  const LoadRun counted = RunOf(scenario, StaticLaw(7));
  // The first grant takes a few milliseconds to come.
  EXPECT_NEAR(static_cast<double>(fixed.good), static_cast<double>(counted.good), 20);
}

TEST(LoadSimulatorTest, ALawLowersALimitThatIsTooHigh) {
  LoadScenario scenario = SmallScenario(2);
  scenario.deadline = absl::Milliseconds(30);
  LawUnderTest law = Aimd(absl::Milliseconds(30));
  law.algorithm.initial = 200;
  const LoadRun run = RunOf(scenario, law);
  EXPECT_EQ(run.samples.front().limit, 200);
  EXPECT_LT(run.samples.back().limit, 40);
  EXPECT_GT(run.samples.back().good, run.samples.front().good);
  EXPECT_THAT(run.decisions, Not(IsEmpty()));
}

TEST(LoadSimulatorTest, DecisionsComeOldestFirst) {
  const LoadRun run = RunOf(SmallScenario(2), Aimd(absl::Milliseconds(10)));
  EXPECT_GT(run.decisions.size(), 5);
  EXPECT_TRUE(std::is_sorted(run.decisions.begin(), run.decisions.end(),
                             [](const LogEvent& a, const LogEvent& b) { return a.at < b.at; }));
}

TEST(LoadSimulatorTest, ClientsOfOneDependencyShareItsQuota) {
  const LoadRun run = RunOf(Shared(4, 20, 2), FixedLaw(100));
  EXPECT_EQ(run.quota_violations, 0);
  EXPECT_EQ(run.in_flight_max, 20);
  EXPECT_THAT(run.samples, Each(Field(&LoadSample::limits, Le(20))));
}

TEST(LoadSimulatorTest, MoreClientsThanQuotaTakeTurns) {
  const LoadRun run = RunOf(Shared(8, 4, 2), FixedLaw(100));
  EXPECT_EQ(run.quota_violations, 0);
  EXPECT_LE(run.in_flight_max, 4);
  // Four of eight hold a permit each, and each of these is offered one busy server: Erlang says
  // half.
  EXPECT_NEAR(run.phases[0].good, 0.5 * 80, 4);
}

TEST(LoadSimulatorTest, AQuotaThatIsNotKeptIsCounted) {
  const LoadRun run = RunOf(Shared(4, 20, 2), StaticLaw(6));
  EXPECT_GT(run.quota_violations, 0);
  EXPECT_EQ(run.in_flight_max, 24);
}

TEST(LoadSimulatorTest, ACrashedReplicaHoldsItsShareAndItsCallsRunOn) {
  LoadScenario scenario = Shared(2, 20, 3);
  scenario.length = absl::Seconds(40);
  scenario.crashes = {{absl::Seconds(10), 0, absl::Seconds(60)}};
  const LoadRun run = RunOf(scenario, FixedLaw(100));
  EXPECT_EQ(run.quota_violations, 0);
  EXPECT_GT(run.lost, 0);
  EXPECT_LE(run.lost, 20);
  EXPECT_LT(SampleAt(run, 12).limits, 15);  // what the dead one held is not free yet
  EXPECT_GE(SampleAt(run, 39).limits, 19);  // lease and call deadline have passed
}

TEST(LoadSimulatorTest, ACrashedReplicaComesBackUnderItsName) {
  LoadScenario scenario = Fleet(2, 1);
  scenario.crashes = {{absl::Seconds(5), 1, absl::Seconds(3)}};
  const LoadRun run = RunOf(scenario, FixedLaw(6));
  EXPECT_EQ(SampleAt(run, 6).replicas, 1);
  EXPECT_EQ(SampleAt(run, 6).limits, 6);
  EXPECT_EQ(SampleAt(run, 10).replicas, 2);
  EXPECT_EQ(SampleAt(run, 10).limits, 12);
}

TEST(LoadSimulatorTest, LimitsFallToTheBaseWhileTheControllerIsAway) {
  LoadScenario scenario = Fleet(2, 1);
  scenario.length = absl::Seconds(40);
  scenario.policy.outage.base = 3;
  scenario.controller_away_at = absl::Seconds(5);
  scenario.controller_away = absl::Seconds(20);
  const LoadRun run = RunOf(scenario, FixedLaw(10));
  EXPECT_EQ(SampleAt(run, 10).limits, 20);  // the leases run
  EXPECT_EQ(SampleAt(run, 20).limits, 6);
  EXPECT_EQ(SampleAt(run, 35).limits, 20);
}

TEST(LoadSimulatorTest, TheFleetGrowsAndShrinks) {
  LoadScenario scenario = Fleet(2, 1);
  scenario.phases.push_back(PhaseAt(5, 3));
  scenario.phases.back().replicas = 6;
  scenario.phases.push_back(PhaseAt(12, 1));
  scenario.phases.back().replicas = 2;
  const LoadRun run = RunOf(scenario, FixedLaw(8));
  EXPECT_EQ(SampleAt(run, 4).limits, 16);
  EXPECT_EQ(SampleAt(run, 11).replicas, 6);
  EXPECT_EQ(SampleAt(run, 11).limits, 48);
  EXPECT_EQ(SampleAt(run, 19).limits, 16);
  EXPECT_NEAR(run.phases[1].offered, 3 * 160, 50);  // times the two that there are nominally
  EXPECT_GT(run.phases[1].good, 350);
  EXPECT_EQ(run.lost, 0);  // who leaves drains first
}

TEST(LoadSimulatorTest, ALateReplicaJoinsLate) {
  LoadScenario scenario = Fleet(3, 1);
  scenario.late_replica = 2;
  scenario.late_at = absl::Seconds(8);
  const LoadRun run = RunOf(scenario, FixedLaw(5));
  EXPECT_EQ(SampleAt(run, 7).replicas, 2);
  EXPECT_EQ(SampleAt(run, 10).limits, 15);
}

TEST(LoadSimulatorTest, RefusedCallsAreTriedAgain) {
  LoadScenario scenario = Fleet(2, 0.9);
  const LoadRun once = RunOf(scenario, StaticLaw(4));
  scenario.retries = 3;
  const LoadRun again = RunOf(scenario, StaticLaw(4));
  EXPECT_EQ(once.refusals, once.rejected);
  EXPECT_GT(again.refusals, again.rejected);
  EXPECT_LT(again.rejected, once.rejected / 2);
}

TEST(LoadSimulatorTest, ARetriedCallIsAsOldAsItsFirstAttempt) {
  LoadScenario scenario = SmallScenario(3);
  scenario.deadline = absl::Milliseconds(40);
  scenario.station.service_time = ServiceTime::kFixed;
  scenario.retries = 5;
  scenario.backoff = absl::Milliseconds(100);
  const LoadRun run = RunOf(scenario, StaticLaw(4));
  EXPECT_GT(run.late, 0);  // though no call takes longer than 5 ms once it is admitted
  EXPECT_LT(run.phases[0].latency_p99, absl::Milliseconds(6));
}

TEST(LoadSimulatorTest, TrafficCanBeUneven) {
  LoadScenario scenario = Fleet(4, 0.3);
  scenario.traffic = {0.4};
  const LoadRun run = RunOf(scenario, StaticLaw(1000));
  // Jain's index of .4, .2, .2, .2.
  EXPECT_NEAR(run.phases[0].fairness, 1 / (4 * 0.28), 0.03);
}

TEST(LoadSimulatorTest, AWeakReplicaDoesLess) {
  LoadScenario scenario = Fleet(2, 2);
  scenario.slow_replica_servers = 2;
  const LoadRun run = RunOf(scenario, StaticLaw(8));
  EXPECT_NEAR(run.phases[0].good, 80 + 40, 8);
}

TEST(LoadSimulatorTest, NoiseMovesTheDelay) {
  LoadScenario scenario = SmallScenario(0.3);
  scenario.station.delay = absl::Milliseconds(20);
  scenario.noise_every = absl::Seconds(2);
  scenario.noise_factor = 3;
  const LoadRun run = RunOf(scenario, StaticLaw(1000));
  EXPECT_LT(SampleAt(run, 1.5).latency_mean, absl::Milliseconds(30));
  EXPECT_GT(SampleAt(run, 3).latency_mean, absl::Milliseconds(55));
}

TEST(LoadSimulatorTest, ReportsProgress) {
  std::vector<double> shares;
  LoadOptions options;
  options.progress = [&shares](double share) { shares.push_back(share); };
  SimulateLoad(SmallScenario(0.1), StaticLaw(4), options);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_GT(shares.size(), 10);
  EXPECT_EQ(shares.back(), 1);
}

TEST(LoadSimulatorTest, SamplesAddUpToThePhases) {
  LoadScenario scenario = SmallScenario(0.8);
  const LoadRun run = RunOf(scenario, StaticLaw(5));
  const double good =
      std::accumulate(run.samples.begin(), run.samples.end(), 0.0,
                      [](double sum, const LoadSample& sample) { return sum + sample.good / 2; });
  EXPECT_EQ(run.samples.size(), 40);
  EXPECT_NEAR(good, static_cast<double>(run.good), 1e-6);
  EXPECT_NEAR(run.phases[0].good, good / 20, 1e-6);
}

}  // namespace
}  // namespace plimsoll
