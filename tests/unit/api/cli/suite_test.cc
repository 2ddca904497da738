#include "api/cli/src/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "api/cli/src/text_table.h"
#include "api/cli/src/yaml_writer.h"
#include "tests/unit/api/cli/fake_engine.h"

namespace plimsoll::cli {
namespace {

// One scenario whose overload phases have these scores.
Outcome WithScores(const std::vector<PhaseScore>& scores) {
  Outcome outcome;
  outcome.scenario = SampleScenario("S");
  outcome.laws.resize(1);
  outcome.laws[0].law = "l";
  for (const PhaseScore& score : scores) {
    PhaseOutcome phase;
    phase.result.name = std::to_string(outcome.overload.size());
    phase.score = score;
    outcome.laws[0].phases.push_back(phase);
    outcome.overload.push_back(true);
    outcome.optima.emplace_back();
  }
  return outcome;
}

PhaseScore Scored(double goodput, double p99, double to_90) {
  PhaseScore score;
  score.goodput = goodput;
  score.p99 = p99;
  score.to_90 = absl::Seconds(to_90);
  score.converged = to_90 < 30;
  return score;
}

TEST(SuiteTest, EachPhaseCountsOnce) {
  Outcome outcome = WithScores({Scored(1, 1, 2), Scored(0.7, 2, 30), Scored(0.94, 1.5, 5)});
  outcome.laws[0].quota_violations = 4;
  const std::vector<LawTotals> all = Total({outcome});
  ASSERT_EQ(all.size(), 1U);
  const LawTotals& totals = all[0];
  EXPECT_EQ(totals.phases, 3);
  EXPECT_NEAR(totals.goodput_mean, 0.88, 1e-9);
  EXPECT_DOUBLE_EQ(totals.goodput_worst, 0.7);
  EXPECT_EQ(totals.goodput_worst_at, "S/1");
  EXPECT_DOUBLE_EQ(totals.p99_mean, 1.5);
  EXPECT_DOUBLE_EQ(totals.p99_worst, 2);
  EXPECT_DOUBLE_EQ(totals.to_90_median, 5);
  EXPECT_DOUBLE_EQ(totals.to_90_max, 30);
  EXPECT_EQ(totals.never, 1);
  EXPECT_EQ(totals.below_08, 1);
  EXPECT_EQ(totals.quota_violations, 4);
}

TEST(SuiteTest, PhasesThatAreNotInOverloadDoNotCount) {
  Outcome outcome = WithScores({Scored(1, 1, 2), Scored(0.1, 9, 30)});
  outcome.overload[1] = false;
  EXPECT_DOUBLE_EQ(Total({outcome})[0].goodput_worst, 1);
}

TEST(SuiteTest, WithoutAPhaseThereIsNoNumber) {
  Outcome outcome = WithScores({Scored(1, 1, 2)});
  outcome.overload[0] = false;
  const LawTotals totals = Total({outcome})[0];
  EXPECT_TRUE(std::isnan(totals.goodput_mean) && std::isnan(totals.goodput_worst));
  EXPECT_TRUE(Total({}).empty());
}

TEST(TextTableTest, ColumnsAreAsWideAsTheirWidestCellInCharacters) {
  const Table table{{"a", "÷", "c"}, {{"long", "1", ""}, {"b", "200", "x"}}};
  EXPECT_EQ(ToText(table),
            "a       ÷  c\n"
            "long    1\n"
            "b     200  x\n");
}

TEST(TextTableTest, WhatIsNoNumberIsADash) {
  EXPECT_EQ(Fixed(1.25, 1), "1.2");
  EXPECT_EQ(Fixed(NAN, 1), "-");
}

TEST(YamlWriterTest, DurationsAreExactAndReadable) {
  EXPECT_EQ(DurationText(absl::Seconds(150)), "150s");
  EXPECT_EQ(DurationText(absl::Milliseconds(1500)), "1.5s");
  EXPECT_EQ(DurationText(absl::Milliseconds(100)), "100ms");
  EXPECT_EQ(DurationText(absl::Microseconds(2250)), "2.25ms");
  EXPECT_EQ(DurationText(absl::Nanoseconds(250)), "0.25us");
  EXPECT_EQ(DurationText(absl::ZeroDuration()), "0s");
}

}  // namespace
}  // namespace plimsoll::cli
