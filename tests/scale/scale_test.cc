#include "tests/scale/simulation.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/scale/placement.h"
#include "tests/scale/timetable.h"

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

// One run need not be unlucky enough; of a few, some are.
TEST_P(ScaleMutants, AreCaught) {
  Figures figures;
  for (std::uint64_t seed = 2; seed <= 9 && figures.violations == 0; ++seed) {
    Options options = Small(Failures::kCrash, seed);
    options.watch_max = absl::Seconds(1);
    options.sabotage = GetParam();
    figures = Simulate(options);
  }
  EXPECT_GT(figures.violations, 0);
}

INSTANTIATE_TEST_SUITE_P(All, ScaleMutants,
                         testing::Values(Sabotage::kInheritsNothing, Sabotage::kHoldsCutShort,
                                         Sabotage::kOwnsByRankAlone));

}  // namespace
}  // namespace plimsoll::scale
