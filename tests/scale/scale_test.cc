#include "tests/scale/simulation.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/scale/placement.h"
#include "tests/scale/report.h"
#include "tests/scale/timetable.h"
#include "tests/scale/virtual_etcd.h"
#include "tests/scale/workload.h"

namespace plimsoll::scale {
namespace {

// Five controllers, and half of the seconds with outages.
Options Small(Failures failures, std::uint64_t seed = 1) {
  Options options;
  options.controllers = 5;
  options.agents = 500;
  options.dependencies = 20;
  options.shards = 8;
  options.length = absl::Seconds(20);
  options.ramp = absl::Seconds(2);
  options.demand_every = absl::Seconds(10);
  options.seed = seed;
  options.failures = failures;
  options.failures_per_minute = 60;
  options.down = absl::Seconds(6);
  return options;
}

void ExpectEveryQuotaKept(const Figures& figures) {
  EXPECT_EQ(figures.violations, 0) << figures.first_violation;
  EXPECT_GT(figures.checks, 100'000);
  // It is contended: sums that never come near the quota would prove nothing.
  EXPECT_EQ(figures.limits_max, 1);
  EXPECT_EQ(figures.reserved_max, 1);
}

// A shard has an owner again once the lease of the one before has ended, at once if it was given
// back; and is used as before soon after.
void ExpectSoonAsBefore(const Timetable& timetable, const Figures& figures) {
  ASSERT_FALSE(figures.started.empty());
  EXPECT_LE(*std::max_element(figures.started.begin(), figures.started.end()), 5);
  int followed = 0;
  for (const TakeOver& one : figures.take_overs) {
    if (one.from < 0) continue;
    const Outage* const outage = timetable.At(one.from, one.lost);
    const bool unsaid = outage != nullptr && outage->kind != OutageKind::kRestart;
    EXPECT_LE(one.led - one.lost, absl::Seconds(unsaid ? 5.5 : 0.6)) << "shard " << one.shard;
    if (one.restored == Instant{}) continue;
    ++followed;
    EXPECT_LE(one.restored - one.lost, absl::Seconds(unsaid ? 12 : 8)) << "shard " << one.shard;
  }
  EXPECT_GT(followed, 1);
}

// A shard moves because its owner has gone, or because one that ranks higher has come.
void ExpectNoMoveWithoutNeed(const Options& options, const Timetable& timetable,
                             const Figures& figures) {
  for (const TakeOver& one : figures.take_overs) {
    if (one.from < 0 || timetable.At(one.from, one.lost) != nullptr) continue;
    const std::vector<int> ranked = Ranked(one.shard, options.controllers);
    const auto rank = [&ranked](int controller) {
      return std::find(ranked.begin(), ranked.end(), controller) - ranked.begin();
    };
    EXPECT_LT(rank(one.to), rank(one.from)) << "shard " << one.shard;
  }
}

class ScaleTest : public ::testing::TestWithParam<Failures> {};

TEST_P(ScaleTest, KeepsEveryQuotaAndServesEveryShardSoonAgain) {
  const Options options = Small(GetParam());
  const Timetable timetable(options);
  const Figures figures = Simulate(options);
  ExpectEveryQuotaKept(figures);
  ExpectSoonAsBefore(timetable, figures);
  ExpectNoMoveWithoutNeed(options, timetable, figures);
}

INSTANTIATE_TEST_SUITE_P(All, ScaleTest,
                         testing::Values(Failures::kRolling, Failures::kZone, Failures::kCrash));

TEST(ScaleSimulation, SameOptionsSameRunHoweverManyThreads) {
  Options options = Small(Failures::kCrash, 7);
  options.agents = 100;
  const Figures once = Simulate(options);
  options.threads = 2;
  EXPECT_TRUE(Same(once, Simulate(options)));
  options.seed = 8;
  EXPECT_FALSE(Same(once, Simulate(options)));
}

class ScaleMutants : public ::testing::TestWithParam<Sabotage> {};

TEST_P(ScaleMutants, AreCaught) {
  std::int64_t violations = 0;
  for (std::uint64_t seed = 1; seed <= 4 && violations == 0; ++seed) {
    Options options = Small(Failures::kCrash, seed);
    options.sabotage = GetParam();
    violations = Simulate(options).violations;
  }
  EXPECT_GT(violations, 0);
}

INSTANTIATE_TEST_SUITE_P(All, ScaleMutants,
                         testing::Values(Sabotage::kInheritsNothing, Sabotage::kHoldsCutShort,
                                         Sabotage::kOwnsByRankAlone));

TEST(Placement, IsEven) {
  std::vector<int> counts(64);
  for (int i = 0; i < 6400; ++i) {
    ++counts[static_cast<std::size_t>(ShardOf(absl::StrCat("dependency-", i), 64))];
  }
  EXPECT_GT(*std::min_element(counts.begin(), counts.end()), 60);
  EXPECT_LT(*std::max_element(counts.begin(), counts.end()), 145);
}

TEST(Placement, ADeathMovesOnlyWhatTheDeadOwned) {
  int moved = 0;
  for (int shard = 0; shard < 500; ++shard) {
    const std::vector<int> of_nine = Ranked(shard, 9);
    std::vector<int> of_ten = Ranked(shard, 10);
    moved += of_ten.front() == 9;
    std::erase(of_ten, 9);
    EXPECT_EQ(of_ten, of_nine);
  }
  EXPECT_GT(moved, 25);
  EXPECT_LT(moved, 80);
}

TEST(Timetable, LosesAZoneAtOnceAndRestartsOneAfterTheOther) {
  const Timetable zone(Small(Failures::kZone));
  ASSERT_THAT(zone.outages(), testing::SizeIs(2));
  EXPECT_EQ(zone.outages()[0].from, zone.outages()[1].from);
  const Timetable rolling(Small(Failures::kRolling));
  std::set<int> restarted;
  for (const Outage& outage : rolling.outages()) {
    restarted.insert(outage.controller);
    EXPECT_EQ(outage.gone, outage.from);
    EXPECT_NE(rolling.At(outage.controller, outage.from), nullptr);
    EXPECT_EQ(rolling.At(outage.controller, outage.until), nullptr);
  }
  EXPECT_THAT(restarted, testing::SizeIs(5));
}

TEST(Timetable, KeysOfTheKilledStayUntilTheirLeaseEnds) {
  const Options options = Small(Failures::kCrash);
  const Timetable crash(options);
  ASSERT_FALSE(crash.outages().empty());
  for (const Outage& outage : crash.outages()) {
    EXPECT_GE(outage.gone - outage.from, options.etcd_lease * 2 / 3);
    EXPECT_LE(outage.gone - outage.from, options.etcd_lease);
    EXPECT_GT(outage.until, outage.gone);
  }
}

TEST(Workload, SomeDependenciesHaveThousandsAndMostAHundred) {
  Options options;
  options.agents = 20'000;
  const Workload workload = MakeWorkload(options);
  EXPECT_GT(workload.members_max, 700);
  EXPECT_GT(workload.members_median, 15);
  EXPECT_LT(workload.members_median, 40);
  EXPECT_GE(workload.memberships, workload.sessions);
  std::int64_t sessions = 0;
  for (const ShardLoad& shard : workload.shards) sessions += std::ssize(shard.agents);
  EXPECT_EQ(sessions, workload.sessions);
}

TEST(VirtualEtcd, WritesOnlyWhatItsGuardAllows) {
  VirtualEtcd etcd;
  EtcdTxn take;
  take.compare = {{"leader", EtcdCompare::Target::kCreateRevision, 0}};
  take.success = {EtcdPut{"leader", "a", 7}};
  take.failure = {EtcdRange{.key = "leader"}};
  const EtcdTxnResult first = etcd.Do(take);
  EXPECT_TRUE(first.succeeded);
  const EtcdTxnResult second = etcd.Do(take);
  EXPECT_FALSE(second.succeeded);
  ASSERT_THAT(second.ranges, testing::SizeIs(1));
  EXPECT_EQ(second.ranges[0].kvs[0].create_revision, first.revision);
  EXPECT_FALSE(etcd.EndLease(8));
  EXPECT_TRUE(etcd.EndLease(7));
  EXPECT_TRUE(etcd.Do(take).succeeded);
}

TEST(Report, TellsHowFarWritesFallBehind) {
  // Ten a second too many for one second, then room for five a second.
  std::vector<std::int64_t> writes(10, 11);
  writes.resize(40, 5);
  EXPECT_NEAR(WorstDelay(writes, 100), 0.1, 1e-9);
  EXPECT_EQ(WorstDelay(writes, 1000), 0);
}

}  // namespace
}  // namespace plimsoll::scale
