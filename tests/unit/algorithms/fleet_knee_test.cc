#include "plimsoll/algorithms/fleet_knee.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/unit/algorithms/knee_plant.h"

namespace plimsoll {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::Le;
using ::testing::Lt;

constexpr double kLight = 0.4;
constexpr double kOver = 2;

double Capacity(const Plant& plant) { return plant.servers / plant.service; }

KneeFleet PerReplica(int replicas, const Plant& plant, double load,
                     AlgorithmConfig config = KneeFleet::Config()) {
  const std::vector<Plant> plants(static_cast<std::size_t>(replicas), plant);
  return {*MakeFleetKnee(config, KneeMode::kPerReplica), plants, load * Capacity(plant)};
}

KneeFleet Shared(int replicas, const Plant& plant, double load,
                 AlgorithmConfig config = KneeFleet::Config()) {
  const std::vector<Plant> plants(static_cast<std::size_t>(replicas), plant);
  return {*MakeFleetKnee(config, KneeMode::kShared), plants, load * Capacity(plant) / replicas};
}

Plant Remote() { return {.servers = 4, .service = 0.005, .delay = 0.040}; }

TEST(ElasticitySumsTest, IsTheRatioOfTheSums) {
  ElasticitySums sums;
  EXPECT_FALSE(sums.known());
  sums.Add(0.05, 0.10);
  sums.Add(0.06, 0.10);
  EXPECT_DOUBLE_EQ(sums.elasticity(), 0.55);
}

TEST(ElasticitySumsTest, ErrorFallsAsPairsComeIn) {
  Random random(1);
  ElasticitySums sums;
  const auto add = [&](int pairs) {
    for (int i = 0; i < pairs; ++i) sums.Add(0.05 + random.Uniform(-0.02, 0.02), 0.10);
    return sums.error();
  };
  const double few = add(8);
  const double many = add(56);
  EXPECT_LT(many, few / 2);
  EXPECT_NEAR(sums.elasticity(), 0.5, 3 * many);
}

TEST(ElasticitySumsTest, OneWildPairIsCutAtThreeDeviations) {
  ElasticitySums sums;
  for (int i = 0; i < 10; ++i) sums.Add(i % 2 == 0 ? 0.045 : 0.055, 0.10);
  const double before = sums.elasticity();
  sums.Add(-3, 0.10);
  EXPECT_GT(sums.elasticity(), before - 0.05);
}

TEST(FleetKneeTest, OtherKindsAndWrongSettingsAreRefused) {
  AlgorithmConfig config = KneeFleet::Config();
  config.kind = AlgorithmKind::kAimd;
  EXPECT_FALSE(MakeFleetKnee(config, KneeMode::kShared).ok());
  config = KneeFleet::Config();
  config.floor = 0;
  EXPECT_FALSE(MakeFleetKnee(config, KneeMode::kShared).ok());
}

TEST(FleetKneeTest, OverloadIsLoweredToTheKnee) {
  const Plant plant;
  KneeFleet fleet = PerReplica(8, plant, kLight);
  fleet.Run(6);
  fleet.Offer(kOver * Capacity(plant));
  fleet.Run(30);
  EXPECT_THAT(fleet.state().level, AllOf(Ge(0.9 * plant.Knee()), Le(1.6 * plant.Knee())));
}

TEST(FleetKneeTest, ALimitThatIsFarTooLowIsRaisedToTheKnee) {
  const Plant plant = Remote();
  KneeFleet fleet = PerReplica(8, plant, kOver);
  fleet.state().level = 3;
  fleet.Run(40);
  EXPECT_THAT(fleet.state().level, AllOf(Ge(0.85 * plant.Knee()), Le(1.6 * plant.Knee())));
}

// 1.3 of the specification: only the derivative tells these two apart.
TEST(FleetKneeTest, AtTheSameLatencyAFallenCapacityLowersAndASlowerNetworkRaises) {
  Plant slower = Remote();
  slower.delay *= 3;
  Plant halved = Remote();
  halved.servers /= 2;
  for (const bool network : {false, true}) {
    KneeFleet fleet = PerReplica(8, Remote(), kOver);
    fleet.Run(30);
    const double before = fleet.state().level;
    fleet.ChangeAll(network ? slower : halved);
    fleet.Run(30);
    if (network) {
      EXPECT_GT(fleet.state().level, 1.8 * before);
    } else {
      EXPECT_LT(fleet.state().level, 0.75 * before);
    }
  }
}

TEST(FleetKneeTest, RetrogradeThroughputIsLeft) {
  Plant plant;
  plant.retrograde = 0.05;
  KneeFleet fleet = PerReplica(8, plant, kOver);
  fleet.state().level = 60;
  fleet.Run(30);
  EXPECT_LT(fleet.state().level, 1.6 * plant.Knee());
}

TEST(FleetKneeTest, AColdStartInOverloadLearnsNoBaselineFromTheQueue) {
  const Plant plant;
  KneeFleet fleet = PerReplica(8, plant, kOver);
  fleet.state().level = 80;  // ten times the knee: latency is ten times what it need be
  const KneeDecision last = fleet.Run(40);
  EXPECT_THAT(fleet.state().level, AllOf(Ge(0.85 * plant.Knee()), Le(1.8 * plant.Knee())));
  EXPECT_LT(last.baseline, 2 * absl::Seconds(plant.service));
}

TEST(FleetKneeTest, ALatencyBelowTheBaselineLowersTheBaselineWhateverTheLoad) {
  Plant slow = Remote();
  slow.delay *= 3;
  KneeFleet fleet = PerReplica(8, slow, kOver);
  fleet.state().level = 60;
  fleet.state().baseline = 0.125;
  fleet.ChangeAll(Remote());
  fleet.Run(12);
  EXPECT_LT(fleet.state().baseline, 0.075);
  EXPECT_LT(fleet.state().level, 55);
}

TEST(FleetKneeTest, LightLoadShowsTheLatencyWithoutAQueueAndMovesNothing) {
  const Plant plant = Remote();
  KneeFleet fleet = PerReplica(8, plant, 0.2);
  const KneeDecision last = fleet.Run(200);
  EXPECT_EQ(last.outcome, KneeOutcome::kNotBinding);
  EXPECT_EQ(fleet.state().level, 20);
  EXPECT_NEAR(fleet.state().baseline, plant.delay + plant.service, 0.002);
}

TEST(FleetKneeTest, IdleHoursNeitherInflateNorCollapseTheLimit) {
  const Plant plant;
  KneeFleet fleet = PerReplica(8, plant, kOver);
  fleet.Run(30);
  const double before = fleet.state().level;
  fleet.Offer(0);
  fleet.Run(5000);
  EXPECT_EQ(fleet.state().level, before);
  fleet.Offer(0.01 * Capacity(plant));
  fleet.Run(5000);
  EXPECT_EQ(fleet.state().level, before);
}

TEST(FleetKneeTest, LimitsThatNobodyMeetsAreNotMoved) {
  KneeFleet fleet = PerReplica(8, Plant(), kLight);
  for (int i = 0; i < 20; ++i) {
    fleet.Run();
    for (std::size_t replica = 0; replica < 8; ++replica) EXPECT_EQ(fleet.limit(replica), 20);
  }
}

TEST(FleetKneeTest, HalfOfTheReplicasGoUpWhileTheOthersGoDownAndThenTheyChange) {
  KneeFleet fleet = PerReplica(8, Plant(), kOver);
  fleet.Run();
  std::vector<Calls> first;
  for (std::size_t i = 0; i < 8; ++i) first.push_back(fleet.limit(i));
  fleet.Run();
  const double level = fleet.state().level;
  int above = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    above += first[i] > level ? 1 : 0;
    EXPECT_EQ(first[i] > level, fleet.limit(i) < level);
  }
  EXPECT_EQ(above, 4);
}

TEST(FleetKneeTest, EvenALimitOfOneIsMovedByACall) {
  AlgorithmConfig config = KneeFleet::Config();
  config.initial = 1;
  KneeFleet fleet = PerReplica(2, Plant{.servers = 1}, kOver, config);
  fleet.Run();
  EXPECT_NE(fleet.limit(0), fleet.limit(1));
}

TEST(FleetKneeTest, WhatHappensToAllReplicasAtOnceCancels) {
  KneeFleet fleet = PerReplica(8, Remote(), kOver);
  fleet.Run(30);
  const double before = fleet.state().level;
  // The whole dependency is a fifth faster in every second epoch.
  Plant fast = Remote();
  fast.service *= 0.85;
  fast.delay *= 0.85;
  for (int i = 0; i < 40; ++i) {
    fleet.ChangeAll(i % 2 == 0 ? Remote() : fast);
    fleet.Run();
  }
  EXPECT_THAT(fleet.state().level, AllOf(Gt(0.8 * before), Lt(1.3 * before)));
}

TEST(FleetKneeTest, SharedPoolsMoveTheirTotal) {
  const Plant plant{.servers = 32, .service = 0.010, .delay = 0.005};
  AlgorithmConfig config = KneeFleet::Config();
  config.initial = 160;
  KneeFleet fleet = Shared(8, plant, kOver, config);
  std::set<Calls> totals;
  for (int i = 0; i < 60; ++i) {
    fleet.Run();
    totals.insert(fleet.law().Total(fleet.state()));
  }
  EXPECT_GT(totals.size(), 3);
  EXPECT_THAT(fleet.state().level, AllOf(Ge(0.85 * plant.Knee()), Le(1.6 * plant.Knee())));
}

TEST(FleetKneeTest, AReportThatIsMissingIsNoChangeOfThroughput) {
  const Plant plant{.servers = 32, .service = 0.010, .delay = 0.005};
  AlgorithmConfig config = KneeFleet::Config();
  config.initial = 160;
  KneeFleet fleet = Shared(8, plant, kOver, config);
  fleet.Run(30);
  for (std::size_t i = 0; i < 60; ++i) {
    fleet.Silence({i % 8});
    fleet.Run();
  }
  EXPECT_THAT(fleet.state().level, AllOf(Ge(0.85 * plant.Knee()), Le(1.7 * plant.Knee())));
}

TEST(FleetKneeTest, ASharedPoolConvergesWhileMembersComeAndGo) {
  const Plant plant{.servers = 32, .service = 0.010, .delay = 0.005};
  AlgorithmConfig config = KneeFleet::Config();
  config.initial = 160;
  KneeFleet fleet = Shared(20, plant, kOver, config);
  for (std::size_t i = 0; i < 60; ++i) {
    fleet.law().Remove(fleet.state(), i % 20);
    fleet.law().Add(fleet.state());
    fleet.Run();
  }
  EXPECT_THAT(fleet.state().level, AllOf(Ge(0.85 * plant.Knee()), Le(1.7 * plant.Knee())));
}

// A store that fails, a quota that binds: what the law says reaches nobody.
TEST(FleetKneeTest, LimitsThatReachNobodyTeachNothing) {
  for (const bool shared : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const KneeMode mode = shared ? KneeMode::kShared : KneeMode::kPerReplica;
      KneeFleet fleet(*MakeFleetKnee(KneeFleet::Config(), mode), std::vector<Plant>(8), 1600, seed);
      fleet.Freeze(80, 0.02);  // ten times the knee
      fleet.Run(200);
      EXPECT_LE(fleet.state().level, 20) << (shared ? "shared " : "") << seed;
      EXPECT_LT(fleet.state().baseline, 0.020) << (shared ? "shared " : "") << seed;
    }
  }
}

// What 20 uncertain pairs say.
ElasticitySums Uncertain(double elasticity, double error) {
  return {.x = 2 * elasticity, .n = 2, .residuals = 4 * error * error, .count = 20};
}

TEST(FleetKneeTest, WhatIsUncertainCertifiesNoBaselineAndRaisesNothing) {
  KneeFleet fleet = PerReplica(8, Plant(), kOver);
  fleet.Freeze(80, 0);
  fleet.Run();
  ASSERT_FALSE(fleet.state().second_of_pair);
  fleet.Run();
  ASSERT_TRUE(fleet.state().second_of_pair);
  fleet.state().sums = Uncertain(0.9, 0.6);
  fleet.Run(1);
  EXPECT_EQ(fleet.state().baseline, 0);
  fleet.state().baseline = fleet.state().latency;
  fleet.Run();
  ASSERT_TRUE(fleet.state().second_of_pair);
  fleet.state().sums = Uncertain(0.9, 0.6);
  EXPECT_EQ(fleet.Run().outcome, KneeOutcome::kHeld);
}

TEST(FleetKneeTest, WhatIsCertainDoesBoth) {
  KneeFleet fleet = PerReplica(8, Plant(), kOver);
  fleet.Freeze(80, 0);
  fleet.Run(2);
  fleet.state().sums = Uncertain(0.9, 0.1);
  EXPECT_EQ(fleet.Run().outcome, KneeOutcome::kRaised);
  EXPECT_GT(fleet.state().baseline, 0);
}

TEST(FleetKneeTest, TwoLimitsInOneEpochShowNoElasticity) {
  KneeFleet fleet = PerReplica(8, Remote(), kOver);
  fleet.Run(1);
  for (int i = 0; i < 10; ++i) {
    KneeEpoch epoch;
    for (std::size_t replica = 0; replica < 8; ++replica) {
      epoch.replicas.push_back({.length = absl::Seconds(1),
                                .limit = 20,
                                .succeeded = 100 * fleet.limit(replica),
                                .rejected = 100,
                                .in_flight = absl::Seconds(fleet.limit(replica)),
                                .at_limit = absl::Seconds(1),
                                .steady = false});
    }
    fleet.law().Close(fleet.state(), epoch);
  }
  EXPECT_FALSE(fleet.state().sums.known());
}

// Calls of very different length: the dependency is full and nearly empty by turns.
TEST(FleetKneeTest, WhoRefusesManyMeetsItsLimitThoughLessOfItIsInUse) {
  for (const int rejected_of_hundred : {5, 30}) {
    KneeFleet fleet = PerReplica(8, Remote(), kOver);
    for (int i = 0; i < 10; ++i) {
      KneeEpoch epoch;
      for (std::size_t replica = 0; replica < 8; ++replica) {
        const Calls limit = fleet.limit(replica);
        epoch.replicas.push_back({.length = absl::Seconds(1),
                                  .limit = limit,
                                  .succeeded = (100 - rejected_of_hundred) * limit,
                                  .rejected = rejected_of_hundred * limit,
                                  .in_flight = absl::Seconds(0.6 * static_cast<double>(limit)),
                                  .at_limit = absl::Seconds(0.3)});
      }
      fleet.law().Close(fleet.state(), epoch);
    }
    EXPECT_EQ(fleet.state().sums.known(), rejected_of_hundred == 30);
  }
}

TEST(FleetKneeTest, CallsThatWereNeverInFlightHaveNoLatency) {
  KneeFleet fleet = PerReplica(4, Plant(), kLight);
  fleet.Run(10);
  const double before = fleet.state().latency;
  KneeEpoch epoch;
  ReplicaEpoch instant;
  instant.length = absl::Seconds(1);
  instant.limit = 20;
  instant.succeeded = 500;
  instant.rejected = 1;
  epoch.replicas.resize(4, instant);
  const KneeDecision decision = fleet.law().Close(fleet.state(), epoch);
  EXPECT_EQ(decision.latency, absl::ZeroDuration());
  EXPECT_EQ(fleet.state().latency, before);
}

TEST(FleetKneeTest, WhoIsNotHeardOfIsNotCountedOn) {
  KneeFleet fleet = PerReplica(8, Plant{.servers = 1}, 0.9);
  fleet.Silence({1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(fleet.Run().outcome, KneeOutcome::kTooFewSamples);
  fleet.settings().live = 1;  // 45 calls in an epoch: enough of one, not of eight
  EXPECT_EQ(fleet.Run().outcome, KneeOutcome::kNotBinding);
}

TEST(FleetKneeTest, ThoseWhoAreHeardOfAreMovedAgainstEachOther) {
  KneeFleet fleet = PerReplica(8, Plant(), kOver);
  fleet.Silence({1, 2, 3, 4, 5, 6});
  fleet.settings().live = 2;
  fleet.Run(2);
  for (int i = 0; i < 20; ++i) {
    fleet.Run();
    EXPECT_TRUE(!fleet.state().dithering || fleet.limit(0) != fleet.limit(7));
  }
}

TEST(FleetKneeTest, ThousandReplicasAreNotAskedTwiceASecond) {
  KneeFleet fleet = PerReplica(4000, Plant(), kLight);
  fleet.Run();
  EXPECT_GE(fleet.law().EpochLength(fleet.state()), absl::Seconds(2));
}

TEST(FleetKneeTest, OneReplicaAloneFindsItsKneeToo) {
  const Plant plant;
  KneeFleet fleet = PerReplica(1, plant, kOver);
  fleet.Run(150);
  EXPECT_THAT(fleet.state().level, AllOf(Ge(0.8 * plant.Knee()), Le(2.2 * plant.Knee())));
}

TEST(FleetKneeTest, AWeakReplicaGetsLessAndTheOthersKeepTheirs) {
  const Plant plant;
  KneeFleet fleet = PerReplica(8, plant, kOver);
  fleet.plant(0).servers = 4;
  fleet.Run(80);
  EXPECT_LT(fleet.state().replicas[0].weight, 0.8);
  EXPECT_GE(fleet.state().level * fleet.state().replicas[1].weight, 0.9 * plant.Knee());
}

TEST(FleetKneeTest, APauseOfOneReplicaChangesNothing) {
  const Plant plant;
  KneeFleet fleet = PerReplica(8, plant, kOver);
  fleet.Run(30);
  const double before = fleet.state().level;
  Plant paused = plant;
  paused.service *= 3;
  fleet.plant(0) = paused;
  fleet.Run(2);
  fleet.plant(0) = plant;
  fleet.Run(2);
  EXPECT_NEAR(fleet.state().replicas[0].weight, 1, 0.02);
  EXPECT_NEAR(fleet.state().level, before, 0.12 * before);
}

// Where calls only wait, 30 % more limit make calls of that replica 80 % longer than those of one
// with 30 % less: it is no weak one, and without it there is nothing to compare.
TEST(FleetKneeTest, WhoIsSlowerBecauseItsLimitWasRaisedIsCompared) {
  AlgorithmConfig config = KneeFleet::Config();
  config.fleet_knee.dither_min = config.fleet_knee.dither_max = 0.3;
  KneeFleet fleet = PerReplica(5, Plant(), kOver, config);
  fleet.state().level = 60;
  const KneeDecision pair = fleet.Run(3);
  ASSERT_TRUE(pair.elasticity.has_value());
  EXPECT_LT(*pair.elasticity, 0.3);
}

// Leaving out who was slow once chooses by the outcome; weak is who is slow three times in a row.
TEST(FleetKneeTest, WhoIsSlowInOneEpochIsCompared) {
  KneeFleet fleet = PerReplica(4, Plant(), kOver);
  fleet.state().level = 60;
  fleet.Run(2);
  fleet.plant(0).service *= 3;
  EXPECT_TRUE(fleet.Run().elasticity.has_value());  // which takes four
}

TEST(FleetKneeTest, AReplicaThatAloneHasTooMuchTrafficIsRaisedByItself) {
  const Plant plant = Remote();
  KneeFleet fleet = PerReplica(8, plant, 0.2);
  fleet.OfferTo(0, 0.9 * Capacity(plant));
  fleet.Run(80);
  EXPECT_GT(fleet.limit(0), 25);
  EXPECT_NEAR(fleet.state().level * fleet.state().replicas[1].weight, 20, 0.5);
}

TEST(FleetKneeTest, AtItsCapThePoolRestsInsteadOfProbing) {
  KneeFleet fleet = PerReplica(8, Remote(), kOver);
  fleet.settings().cap = 24;
  fleet.Run(12);
  EXPECT_EQ(fleet.state().level, 24);
  int resting = 0;
  for (int i = 0; i < 40; ++i) resting += fleet.Run().outcome == KneeOutcome::kAtCap ? 1 : 0;
  EXPECT_GT(resting, 20);
  EXPECT_EQ(fleet.state().level, 24);
}

TEST(FleetKneeTest, AFallenCapacityIsNoticedWhileThePoolRestsAtItsCap) {
  const Plant plant = Remote();
  KneeFleet fleet = PerReplica(8, plant, kOver);
  fleet.settings().cap = 40;
  fleet.Run(24);
  ASSERT_EQ(fleet.state().level, 40);
  Plant fallen = plant;
  fallen.servers = 1;
  fleet.ChangeAll(fallen);
  fleet.Run(16);
  EXPECT_LT(fleet.state().level, 25);
}

TEST(FleetKneeTest, ACapThatFallsIsObeyedAtOnceAndForgottenWhenItRises) {
  KneeFleet fleet = PerReplica(8, Plant(), kLight);
  fleet.settings().cap = 12;
  const KneeDecision cut = fleet.Run();
  EXPECT_EQ(fleet.limit(0), 12);
  EXPECT_EQ(cut.after, 12);
  EXPECT_EQ(cut.reason, Reason::kCeiling);
  fleet.Run(20);
  fleet.settings().cap = 1000;
  EXPECT_EQ(fleet.Run().reason, Reason::kCeiling);
  EXPECT_EQ(fleet.limit(0), 20);
}

TEST(FleetKneeTest, WhileLimitsAreNotEnforcedACapIsNoLevelEither) {
  KneeFleet fleet = PerReplica(8, Remote(), kOver);
  fleet.settings().enforced = false;
  fleet.settings().cap = 10;
  fleet.Run(20);
  EXPECT_EQ(fleet.limit(0), 10);
  fleet.settings().cap = 1000;
  fleet.Run();
  EXPECT_EQ(fleet.limit(0), 20);
}

// What a pool at its cap of 16, below its level of 200, is left with.
double LevelAtCap(const ElasticitySums& sums) {
  KneeFleet fleet = PerReplica(8, Plant(), kOver);
  fleet.state().level = 200;
  fleet.settings().cap = 16;
  fleet.Freeze(80, 0);
  fleet.Run(2);
  fleet.state().sums = sums;
  EXPECT_EQ(fleet.Run().outcome, KneeOutcome::kHeld);
  return fleet.state().level;
}

TEST(FleetKneeTest, AKneeThatIsFoundAtTheCapOutlivesItAndADoubtDoesNot) {
  EXPECT_EQ(LevelAtCap(Uncertain(0.15, 0.05)), 16);
  EXPECT_EQ(LevelAtCap(Uncertain(0.5, 0.6)), 200);
}

TEST(FleetKneeTest, OverloadErrorsBrakeAtOnce) {
  Plant plant = Remote();
  plant.failed_above = 0.5;
  KneeFleet fleet = PerReplica(8, plant, kOver);
  fleet.settings().drop_tolerance = 0.05;
  const KneeDecision first = fleet.Run();
  EXPECT_EQ(first.outcome, KneeOutcome::kBraked);
  EXPECT_EQ(first.reason, Reason::kErrors);
  EXPECT_LT(fleet.state().level, 0.6 * 20);
}

TEST(FleetKneeTest, ErrorsThatDoNotDependOnTheLoadDoNotTakeEverything) {
  Plant plant = Remote();
  plant.failed = 0.2;
  KneeFleet fleet = PerReplica(8, plant, kOver);
  fleet.settings().drop_tolerance = 0.05;
  fleet.Run(400);
  EXPECT_GT(fleet.state().level, 0.3 * plant.Knee());
}

TEST(FleetKneeTest, ALatencyTargetLowersBelowTheKneeButNotBelowWhatIsNeeded) {
  AlgorithmConfig config = KneeFleet::Config();
  config.fleet_knee.latency_target = absl::Milliseconds(20);
  const Plant plant;
  KneeFleet fleet = PerReplica(8, plant, kLight, config);
  fleet.Run(6);
  fleet.Offer(kOver * Capacity(plant));
  fleet.settings().latency = absl::Milliseconds(30);
  const KneeDecision decision = fleet.Run();
  EXPECT_EQ(decision.outcome, KneeOutcome::kAboveTarget);
  EXPECT_EQ(decision.reason, Reason::kLatencyRose);
  fleet.Run(30);
  EXPECT_GE(fleet.state().level, 0.6 * fleet.state().baseline * Capacity(plant));
}

TEST(FleetKneeTest, WhileLimitsAreNotEnforcedTheLevelStays) {
  KneeFleet fleet = PerReplica(8, Remote(), kOver);
  fleet.settings().enforced = false;
  const KneeDecision last = fleet.Run(40);
  EXPECT_EQ(last.outcome, KneeOutcome::kObserving);
  EXPECT_EQ(fleet.state().level, 20);
  for (std::size_t replica = 0; replica < 8; ++replica) EXPECT_EQ(fleet.limit(replica), 20);
}

TEST(FleetKneeTest, ATooSmallSampleMovesNothing) {
  KneeFleet fleet = PerReplica(8, Plant{.servers = 1, .service = 2}, kOver);
  const KneeDecision decision = fleet.Run();
  EXPECT_EQ(decision.outcome, KneeOutcome::kTooFewSamples);
  EXPECT_EQ(fleet.state().level, 20);
}

TEST(FleetKneeTest, NonsenseInReportsMovesNothingAndMakesNoNan) {
  KneeFleet fleet = PerReplica(4, Plant(), kOver);
  fleet.Run(10);
  const double before = fleet.state().level;
  KneeEpoch epoch;
  epoch.replicas.resize(4);
  for (ReplicaEpoch& replica : epoch.replicas) {
    replica.length = absl::Seconds(1);
    replica.limit = 10;
    replica.succeeded = 500;
    replica.rejected = 500;
    replica.in_flight = -absl::Seconds(3);
  }
  fleet.law().Close(fleet.state(), epoch);
  EXPECT_TRUE(std::isfinite(fleet.state().level));
  EXPECT_NEAR(fleet.state().level, before, 0.5 * before);
  fleet.Run(30);
  EXPECT_TRUE(std::isfinite(fleet.state().level));
}

TEST(FleetKneeTest, FloorAndCeilingHoldWhateverIsSeen) {
  AlgorithmConfig config = KneeFleet::Config();
  config.floor = 6;
  config.ceiling = 9;
  config.initial = 8;
  KneeFleet fleet = PerReplica(8, Remote(), kOver, config);
  for (int i = 0; i < 60; ++i) {
    if (i == 30) fleet.ChangeAll(Plant{.servers = 1, .service = 0.010});
    fleet.Run();
    for (std::size_t replica = 0; replica < 8; ++replica) {
      EXPECT_THAT(fleet.limit(replica), AllOf(Ge(6), Le(9)));
    }
  }
}

TEST(FleetKneeTest, IndexesStayWhileReplicasComeAndGo) {
  KneeFleet fleet = PerReplica(3, Plant(), kOver);
  const FleetKnee& law = fleet.law();
  law.Remove(fleet.state(), 1);
  EXPECT_EQ(fleet.state().present, 2);
  EXPECT_EQ(law.Add(fleet.state()), 1);
  EXPECT_EQ(law.Add(fleet.state()), 3);
  EXPECT_EQ(fleet.state().present, 4);
}

TEST(FleetKneeTest, PlacesAreTakenAgainBeforeThereAreMore) {
  KneeFleet fleet = PerReplica(50, Plant(), kOver);
  const FleetKnee& law = fleet.law();
  for (std::size_t i = 0; i < 50; i += 2) law.Remove(fleet.state(), i);
  std::set<std::size_t> places;
  for (int i = 0; i < 25; ++i) places.insert(law.Add(fleet.state()));
  EXPECT_EQ(places.size(), 25);
  EXPECT_EQ(fleet.state().replicas.size(), 50);
  EXPECT_EQ(law.Add(fleet.state()), 50);
}

TEST(FleetKneeTest, TheSameSeedGivesTheSameDecisions) {
  KneeFleet one = PerReplica(8, Remote(), kOver);
  KneeFleet other = PerReplica(8, Remote(), kOver);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(one.Run().after, other.Run().after);
}

}  // namespace
}  // namespace plimsoll
