// Days on which controllers share an etcd: that every invariant holds, and that what could break it
// has happened.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "plimsoll/simulation/fleet_simulator.h"
#include "plimsoll/simulation/scenario.h"
#include "tests/simulation/mutants.h"

namespace plimsoll {
namespace {

struct AtLeast {
  const char* what;
  std::int64_t EtcdCounts::*count;
  std::int64_t times;  // over all seeds
};

struct EtcdDays {
  const char* scenario;
  std::uint64_t seeds;
  double usable_share_min;  // of the mean over the seeds
  std::vector<AtLeast> happened;
};

std::vector<AtLeast> All(std::vector<AtLeast> others) {
  others.insert(others.end(),
                {{"reigns", &EtcdCounts::reigns, 20},
                 {"leases that ended", &EtcdCounts::leases_ended, 20},
                 {"writes", &EtcdCounts::writes, 80},
                 {"writes of a reign that was over", &EtcdCounts::stale_writes, 5},
                 {"confirmations of a reign that was over", &EtcdCounts::stale_confirms, 10},
                 {"writes refused because they had landed", &EtcdCounts::refused_again, 5}});
  return others;
}

class EtcdSimulationTest : public testing::TestWithParam<EtcdDays> {};

TEST_P(EtcdSimulationTest, EveryInvariantHoldsWhateverHappens) {
  const Scenario scenario = *FindScenario(GetParam().scenario);
  double usable_share = 0;
  EtcdCounts counts;
  for (std::uint64_t seed = 1; seed <= GetParam().seeds; ++seed) {
    const SimulationResult result = Simulate(scenario, seed);
    ASSERT_TRUE(result.ok()) << result.first_violation << "\nreplay: quota_simulation --scenario "
                             << scenario.name << " --seed " << seed << " --trace";
    usable_share += result.usable_share;
    counts += result.etcd;
  }
  EXPECT_GE(usable_share / static_cast<double>(GetParam().seeds), GetParam().usable_share_min);
  for (const AtLeast& least : GetParam().happened) {
    EXPECT_GE(counts.*least.count, least.times) << least.what;
  }
  EXPECT_EQ(counts.stale_answers, 0) << "nothing is asked that a member answers from what it has";
}

INSTANTIATE_TEST_SUITE_P(
    Days, EtcdSimulationTest,
    testing::Values(
        EtcdDays{"etcd-two", 3, 0.35,
                 All({{"give-ups that land later", &EtcdCounts::landed_late, 1}})},
        EtcdDays{"etcd-three", 3, 0.35,
                 All({{"take-overs that failed", &EtcdCounts::takes_failed, 5}})},
        EtcdDays{"etcd-split", 4, 0.3, All({{"give-ups", &EtcdCounts::unknown_open, 20}})},
        EtcdDays{"etcd-slow", 4, 0.2,
                 All({{"compacted pages", &EtcdCounts::compacted_pages, 10},
                      {"batches in more than one transaction", &EtcdCounts::split_batches, 5},
                      {"take-overs of unknown outcome", &EtcdCounts::unknown_takes, 3},
                      {"give-ups that had landed", &EtcdCounts::unknown_landed, 3},
                      {"give-ups that had not", &EtcdCounts::unknown_open, 5},
                      {"give-ups that land later", &EtcdCounts::landed_late, 2},
                      {"give-ups that are refused later", &EtcdCounts::refused_late, 10}})},
        EtcdDays{"etcd-hot", 2, 0.15,
                 All({{"take-overs that failed", &EtcdCounts::takes_failed, 20}})},
        EtcdDays{"etcd-paused", 2, 0.25, All({})}),
    [](const auto& days) {
      std::string name = days.param.scenario;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(EtcdSimulationTest, SameSeedLivesTheSameDay) {
  Scenario scenario = *FindScenario("etcd-slow");
  scenario.length = absl::Seconds(40);
  const SimulationResult one = Simulate(scenario, 7);
  const SimulationResult other = Simulate(scenario, 7, /*traced=*/true);
  EXPECT_EQ(one.trace_hash, other.trace_hash);
  EXPECT_FALSE(other.trace.empty());
}

TEST(EtcdSimulationTest, WithoutFaultsOneReignLastsAllDayAndEverythingIsUsable) {
  Scenario scenario = *FindScenario("calm");
  scenario.controllers = 3;
  scenario.etcd.emplace();
  const SimulationResult result = Simulate(scenario, 1);
  EXPECT_TRUE(result.ok()) << result.first_violation;
  EXPECT_EQ(result.etcd.reigns, 1);
  EXPECT_EQ(result.etcd.stale_writes + result.etcd.stale_confirms, 0);
  EXPECT_GE(result.usable_share, 0.93);
}

TEST(EtcdSimulationTest, AMemberThatIsCutOffAnswersTheMutantThatAsksAnyMember) {
  for (const internal::Mutant& mutant : internal::Mutants()) {
    if (mutant.name != "ConfirmedByMember") continue;
    const auto caught = internal::Catch(mutant, 0);
    ASSERT_TRUE(caught.has_value());
    EXPECT_GT(caught->etcd.stale_answers, 0);
  }
}

}  // namespace
}  // namespace plimsoll
