#include <cstdint>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "plimsoll/simulation/fleet_simulator.h"
#include "plimsoll/simulation/scenario.h"
#include "tests/simulation/mutants.h"

namespace plimsoll {
namespace {

using internal::Mutant;

struct Days {
  const char* scenario;
  std::uint64_t seeds;
  double usable_share_min;  // of the mean over the seeds
};

class QuotaSimulationTest : public testing::TestWithParam<Days> {};

TEST_P(QuotaSimulationTest, EveryInvariantHoldsAfterEveryEvent) {
  const Scenario scenario = *FindScenario(GetParam().scenario);
  double usable_share = 0;
  for (std::uint64_t seed = 1; seed <= GetParam().seeds; ++seed) {
    const SimulationResult result = Simulate(scenario, seed);
    ASSERT_TRUE(result.ok()) << result.first_violation << "\nreplay: quota_simulation --scenario "
                             << scenario.name << " --seed " << seed << " --trace";
    usable_share += result.usable_share;
  }
  EXPECT_GE(usable_share / static_cast<double>(GetParam().seeds), GetParam().usable_share_min);
}

INSTANTIATE_TEST_SUITE_P(
    Days, QuotaSimulationTest,
    testing::Values(Days{"calm", 4, 0.93}, Days{"mild", 4, 0.82}, Days{"harsh", 5, 0.55},
                    Days{"churn", 4, 0.1}, Days{"extreme", 3, 0.4}, Days{"open", 4, 0.93},
                    Days{"anonymous", 4, 0.4}, Days{"reserve", 4, 0.5}, Days{"quota", 6, 0.5},
                    Days{"operator", 6, 0.2}, Days{"template", 4, 0.2}, Days{"cuts", 4, 0.3},
                    Days{"lost", 6, 0.35}, Days{"failover", 6, 0.5}, Days{"hot", 4, 0.05},
                    Days{"split", 6, 0.35}, Days{"deploy", 4, 0.75}, Days{"scale", 3, 0.8},
                    Days{"jobs", 2, 0.6}, Days{"crashloop", 4, 0.8}),
    [](const auto& days) { return std::string(days.param.scenario); });

TEST(SimulationTest, AThousandJoinsAMinuteLeaveNothingBehind) {
  Scenario scenario = *FindScenario("jobs");
  scenario.length = absl::Seconds(60);
  const std::int64_t in_one_minute = Simulate(scenario, 1).sessions_max;
  scenario.length = absl::Minutes(10);
  const SimulationResult result = Simulate(scenario, 1);
  EXPECT_GT(result.agent_starts, 5000);
  EXPECT_LE(result.sessions_max, in_one_minute + in_one_minute / 10);
}

TEST(SimulationTest, NobodyStarvesWhereFortyShareFifty) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    EXPECT_LT(Simulate(*FindScenario("scale"), seed).starved_max, absl::Seconds(15));
  }
}

Scenario ShortHarshDay() {
  Scenario scenario = *FindScenario("harsh");
  scenario.length = absl::Seconds(40);
  return scenario;
}

TEST(SimulationTest, SameSeedLivesTheSameDay) {
  EXPECT_EQ(Simulate(ShortHarshDay(), 7).trace_hash,
            Simulate(ShortHarshDay(), 7, /*traced=*/true).trace_hash);
}

TEST(SimulationTest, OtherSeedsLiveOtherDays) {
  EXPECT_NE(Simulate(ShortHarshDay(), 7).trace_hash, Simulate(ShortHarshDay(), 8).trace_hash);
}

TEST(SimulationTest, TheTemplateDayMakesAndForgetsPoliciesAllTheTime) {
  TemplateCounts counts;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    counts += Simulate(*FindScenario("template"), seed).templates;
  }
  EXPECT_GE(counts.made, 20);
  EXPECT_GE(counts.forgotten, 10);
  EXPECT_GE(counts.inherited, 10);
  EXPECT_GE(counts.learning, 5);
}

// As long as somebody uses it: then nothing shows where the policy comes from.
TEST(SimulationTest, WhatATemplateHasMadeBehavesAsAPolicyOfItsOwn) {
  Scenario scenario = *FindScenario("operator");
  const SimulationResult own = Simulate(scenario, 3);
  scenario.from_template = true;
  const SimulationResult made = Simulate(scenario, 3);
  EXPECT_EQ(own.templates.made, 0);
  EXPECT_GT(made.templates.made, 0);
  EXPECT_EQ(made.trace_hash, own.trace_hash);
}

TEST(SimulationTest, TheHarshDayHasEverything) {
  const SimulationResult result = Simulate(*FindScenario("harsh"), 1);
  EXPECT_GT(result.controller_starts, 3);
  EXPECT_GT(result.agent_starts, 12);
  EXPECT_GT(result.calls_admitted, 1000);
  EXPECT_GT(result.calls_refused, 100);
  EXPECT_GT(result.limits_max, 40);
  EXPECT_GT(result.in_flight_max, 30);
}

class MutantTest : public testing::TestWithParam<Mutant> {};

TEST_P(MutantTest, IsCaught) {
  const std::optional<SimulationResult> caught = Catch(GetParam(), 40);
  ASSERT_TRUE(caught.has_value()) << "nothing breaks when " << GetParam().text;
  RecordProperty("seed", std::to_string(caught->seed));
  RecordProperty("violation", caught->first_violation);
}

INSTANTIATE_TEST_SUITE_P(Rules, MutantTest, testing::ValuesIn(internal::Mutants()),
                         [](const auto& mutant) { return std::string(mutant.param.name); });

}  // namespace
}  // namespace plimsoll
