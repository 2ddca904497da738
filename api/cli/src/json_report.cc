#include "api/cli/src/json_report.h"

#include <cmath>
#include <optional>

#include "api/cli/src/describe.h"
#include "api/cli/src/json.h"

namespace plimsoll::cli {
namespace {

Json Finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json Seconds(absl::Duration value) { return Finite(absl::ToDoubleSeconds(value)); }

Json OptimumJson(const std::optional<Optimum>& optimum) {
  if (!optimum) return nullptr;
  return {{"limit", optimum->limit},
          {"good_per_second", Finite(optimum->good)},
          {"p99_seconds", Seconds(optimum->latency_p99)}};
}

Json ScoreJson(const std::optional<PhaseScore>& score) {
  if (!score) return nullptr;
  return {{"goodput", Finite(score->goodput)},
          {"p99", Finite(score->p99)},
          {"to_90_seconds", Seconds(score->to_90)},
          {"converged", score->converged},
          {"limit", Finite(score->limit)},
          {"overshoot", Finite(score->overshoot)},
          {"oscillation", Finite(score->oscillation)},
          {"fairness", Finite(score->fairness)},
          {"probe_cost", Finite(score->probe_cost)}};
}

Json PhaseJson(const PhaseOutcome& phase) {
  const PhaseResult& result = phase.result;
  return {{"name", result.name},
          {"offered_per_second", Finite(result.offered)},
          {"good_per_second", Finite(result.good)},
          {"rejected_per_second", Finite(result.rejected)},
          {"latency_mean_seconds", Seconds(result.latency_mean)},
          {"latency_p50_seconds", Seconds(result.latency_p50)},
          {"latency_p99_seconds", Seconds(result.latency_p99)},
          {"limit_mean", Finite(result.limit_mean)},
          {"limit_deviation", Finite(result.limit_deviation)},
          {"limit_max", Finite(result.limit_max)},
          {"fairness", Finite(result.fairness)},
          {"score", ScoreJson(phase.score)}};
}

Json LawJson(const LawOutcome& law) {
  Json phases = Json::array();
  for (const PhaseOutcome& phase : law.phases) phases.push_back(PhaseJson(phase));
  return {{"law", law.law},
          {"quota_violations", law.quota_violations},
          {"in_flight_max", law.in_flight_max},
          {"calls", law.calls},
          {"messages", law.messages},
          {"grants", law.grants},
          {"phases", std::move(phases)}};
}

Json ScenarioJson(const Outcome& outcome) {
  const LoadScenario& scenario = outcome.scenario;
  Json phases = Json::array();
  for (std::size_t p = 0; p < scenario.phases.size(); ++p) {
    phases.push_back({{"name", scenario.phases[p].name},
                      {"start_seconds", Seconds(scenario.phases[p].start)},
                      {"overload", static_cast<bool>(outcome.overload[p])},
                      {"optimum", OptimumJson(outcome.optima[p])}});
  }
  Json laws = Json::array();
  for (const LawOutcome& law : outcome.laws) laws.push_back(LawJson(law));
  const std::optional<Calls>& quota = scenario.policy.quota;
  return {{"scenario", scenario.name},
          {"words", DescribeScenario(scenario)},
          {"seed", outcome.seed},
          {"runs", outcome.runs},
          {"length_seconds", Seconds(scenario.length)},
          {"quota", quota ? Json(*quota) : Json(nullptr)},
          {"phases", std::move(phases)},
          {"laws", std::move(laws)}};
}

Json TotalsJson(const LawTotals& totals) {
  return {{"law", totals.law},
          {"overload_phases", totals.phases},
          {"goodput_mean", Finite(totals.goodput_mean)},
          {"goodput_worst", Finite(totals.goodput_worst)},
          {"goodput_worst_at", totals.goodput_worst_at},
          {"p99_mean", Finite(totals.p99_mean)},
          {"p99_worst", Finite(totals.p99_worst)},
          {"to_90_median_seconds", Finite(totals.to_90_median)},
          {"to_90_max_seconds", Finite(totals.to_90_max)},
          {"never_90", totals.never},
          {"overshoot_mean", Finite(totals.overshoot)},
          {"oscillation_mean", Finite(totals.oscillation)},
          {"fairness_mean", Finite(totals.fairness)},
          {"probe_cost_mean", Finite(totals.probe_cost)},
          {"phases_below_0_8", totals.below_08},
          {"quota_violations", totals.quota_violations}};
}

Json PartJson(const SuitePart& part) {
  Json totals = Json::array();
  for (const LawTotals& law : Total(part.outcomes)) totals.push_back(TotalsJson(law));
  Json scenarios = Json::array();
  for (const Outcome& outcome : part.outcomes) scenarios.push_back(ScenarioJson(outcome));
  return {{"name", part.name},
          {"scenario_seed", part.scenario_seed == 0 ? Json(nullptr) : Json(part.scenario_seed)},
          {"totals", std::move(totals)},
          {"scenarios", std::move(scenarios)}};
}

// Names come from files; what is no UTF-8 in them is replaced.
std::string Dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string OutcomeJson(const Outcome& outcome) {
  Json json = {{"schema_version", kJsonSchemaVersion}};
  json.update(ScenarioJson(outcome));
  return Dump(json);
}

std::string SuiteJson(const std::vector<SuitePart>& parts) {
  Json sets = Json::array();
  for (const SuitePart& part : parts) sets.push_back(PartJson(part));
  return Dump({{"schema_version", kJsonSchemaVersion}, {"sets", std::move(sets)}});
}

}  // namespace plimsoll::cli
