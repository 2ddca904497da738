#include "api/cli/src/suite_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/cli/src/run_table.h"

namespace plimsoll::cli {
namespace {

std::string SecondsText(double seconds) {
  const std::string text = Fixed(seconds, 1);
  return text == "-" ? text : absl::StrCat(text, " s");
}

std::vector<std::string> Row(const LawTotals& totals) {
  return {totals.law,
          Fixed(totals.goodput_mean, 3),
          Fixed(totals.goodput_worst, 3),
          totals.goodput_worst_at,
          Fixed(totals.p99_mean, 2),
          Fixed(totals.p99_worst, 2),
          SecondsText(totals.to_90_median),
          SecondsText(totals.to_90_max),
          absl::StrCat(totals.never),
          Fixed(totals.overshoot, 2),
          Fixed(totals.oscillation, 3),
          Fixed(totals.fairness, 3),
          Fixed(totals.probe_cost, 4),
          absl::StrCat(totals.below_08),
          absl::StrCat(totals.quota_violations)};
}

int OverloadPhases(const SuitePart& part) {
  std::ptrdiff_t phases = 0;
  for (const Outcome& outcome : part.outcomes) {
    phases += std::count(outcome.overload.begin(), outcome.overload.end(), true);
  }
  return static_cast<int>(phases);
}

}  // namespace

Table TotalsTable(const SuitePart& part) {
  Table table;
  table.header = {"law",         "goodput",  "worst",      "in",    "p99",
                  "worst",       "to 90 %",  "longest",    "never", "overshoot",
                  "oscillation", "fairness", "probe cost", "< 0.8", "quota violations"};
  for (const LawTotals& totals : Total(part.outcomes)) table.rows.push_back(Row(totals));
  return table;
}

Table GoodputTable(const SuitePart& part) {
  Table table;
  table.header = {"phase"};
  if (part.outcomes.empty()) return table;
  for (const LawOutcome& law : part.outcomes.front().laws) table.header.push_back(law.law);
  for (const Outcome& outcome : part.outcomes) {
    for (std::size_t p = 0; p < outcome.overload.size(); ++p) {
      if (!outcome.overload[p]) continue;
      std::vector<std::string> row = {
          absl::StrCat(outcome.scenario.name, "/", outcome.scenario.phases[p].name)};
      for (const LawOutcome& law : outcome.laws) {
        const bool scored = p < law.phases.size() && law.phases[p].score.has_value();
        row.push_back(scored ? Fixed(law.phases[p].score->goodput, 3) : "-");
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

std::string PartTitle(const SuitePart& part) {
  const auto scenarios = static_cast<std::int64_t>(part.outcomes.size());
  std::string title = absl::StrCat(part.name, ": ", Count(scenarios, "scenario"), ", ",
                                   Count(OverloadPhases(part), "overload phase"));
  if (part.outcomes.empty()) return title;
  const Outcome& first = part.outcomes.front();
  return absl::StrCat(title, ", ", Count(first.runs, "run"), " each, seeds from ", first.seed);
}

std::string PartText(const SuitePart& part) {
  return absl::StrCat(PartTitle(part), "\n\n", ToText(TotalsTable(part)),
                      "\ngood calls ÷ optimum, per overload phase\n", ToText(GoodputTable(part)));
}

}  // namespace plimsoll::cli
