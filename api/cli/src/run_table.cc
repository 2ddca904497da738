#include "api/cli/src/run_table.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/cli/src/describe.h"

namespace plimsoll::cli {
namespace {

constexpr char kNothing[] = "-";

std::vector<std::string> Row(const Outcome& outcome, const PhaseOutcome& phase, std::size_t index) {
  const PhaseResult& result = phase.result;
  const std::optional<Optimum>& optimum = outcome.optima[index];
  const std::optional<PhaseScore>& score = phase.score;
  return {absl::StrCat(result.name, outcome.overload[index] ? " *" : ""),
          Fixed(result.offered, 0),
          Fixed(result.good, 0),
          optimum ? Fixed(optimum->good, 0) : kNothing,
          score ? Fixed(score->goodput, 3) : kNothing,
          LatencyText(result.latency_p99),
          score ? Fixed(score->p99, 2) : kNothing,
          score ? To90Text(*score) : kNothing,
          Fixed(result.limit_mean, 1),
          optimum ? absl::StrCat(optimum->limit) : kNothing,
          score ? Fixed(score->overshoot, 2) : kNothing,
          score ? Fixed(score->oscillation, 3) : kNothing,
          Fixed(result.fairness, 3),
          Fixed(result.rejected, 0)};
}

}  // namespace

std::string To90Text(const PhaseScore& score) {
  if (!score.converged) return "never";
  return absl::StrCat(Fixed(absl::ToDoubleSeconds(score.to_90), 1), " s");
}

std::string Count(std::int64_t count, const std::string& noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

Table PhaseTable(const Outcome& outcome, const LawOutcome& law) {
  Table table;
  table.header = {"phase",     "offered/s",   "good/s",   "optimum",   "÷ optimum",
                  "p99",       "÷ optimum",   "to 90 %",  "limit",     "best",
                  "overshoot", "oscillation", "fairness", "rejected/s"};
  for (std::size_t p = 0; p < law.phases.size(); ++p) {
    table.rows.push_back(Row(outcome, law.phases[p], p));
  }
  return table;
}

std::string LawSummary(const Outcome& outcome, const LawOutcome& law) {
  const std::optional<Calls>& quota = outcome.scenario.policy.quota;
  const std::string most = absl::StrCat("at most ", law.in_flight_max, " in flight");
  const std::string kept = quota ? absl::StrCat(Count(law.quota_violations, "quota violation"),
                                                ", ", most, " of ", *quota)
                                 : absl::StrCat("no quota, ", most);
  return absl::StrCat(kept, "; ", Count(law.calls, "call"), ", ", Count(law.messages, "message"),
                      ", ", Count(law.grants, "grant"));
}

std::string OutcomeText(const Outcome& outcome) {
  std::string text = absl::StrCat("scenario ", outcome.scenario.name, "\n");
  for (const std::string& line : DescribeScenario(outcome.scenario)) {
    absl::StrAppend(&text, "  ", line, "\n");
  }
  absl::StrAppend(&text, "  Seed ", outcome.seed, ", ", Count(outcome.runs, "run"), ".\n");
  bool star = false;
  for (const bool overload : outcome.overload) star = star || overload;
  for (const LawOutcome& law : outcome.laws) {
    absl::StrAppend(&text, "\n", law.law, "\n", ToText(PhaseTable(outcome, law)),
                    LawSummary(outcome, law), "\n");
  }
  if (star) absl::StrAppend(&text, "\n* offers more than the dependency can do\n");
  return text;
}

}  // namespace plimsoll::cli
