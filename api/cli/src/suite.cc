#include "api/cli/src/suite.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"

namespace plimsoll::cli {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kTooLow = 0.8;

struct Sample {
  std::string where;
  PhaseScore score;
};

std::vector<Sample> Samples(const std::vector<Outcome>& outcomes, std::size_t law) {
  std::vector<Sample> samples;
  for (const Outcome& outcome : outcomes) {
    const std::vector<PhaseOutcome>& phases = outcome.laws[law].phases;
    for (std::size_t p = 0; p < phases.size(); ++p) {
      if (!outcome.overload[p] || !phases[p].score) continue;
      samples.push_back(
          {absl::StrCat(outcome.scenario.name, "/", phases[p].result.name), *phases[p].score});
    }
  }
  return samples;
}

double Mean(const std::vector<Sample>& samples, double PhaseScore::*field) {
  double sum = 0;
  for (const Sample& sample : samples) sum += sample.score.*field;
  return sum / static_cast<double>(samples.size());
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void AddTimes(const std::vector<Sample>& samples, LawTotals& totals) {
  std::vector<double> times;
  for (const Sample& sample : samples) {
    times.push_back(absl::ToDoubleSeconds(sample.score.to_90));
    if (!sample.score.converged) ++totals.never;
  }
  totals.to_90_median = Median(times);
  totals.to_90_max = *std::max_element(times.begin(), times.end());
}

void AddWorst(const std::vector<Sample>& samples, LawTotals& totals) {
  totals.goodput_worst = std::numeric_limits<double>::infinity();
  for (const Sample& sample : samples) {
    if (sample.score.goodput < totals.goodput_worst) {
      totals.goodput_worst = sample.score.goodput;
      totals.goodput_worst_at = sample.where;
    }
    totals.p99_worst = std::max(totals.p99_worst, sample.score.p99);
    if (sample.score.goodput < kTooLow) ++totals.below_08;
  }
}

LawTotals TotalOf(const std::vector<Outcome>& outcomes, std::size_t law) {
  LawTotals totals;
  totals.law = outcomes.front().laws[law].law;
  for (const Outcome& outcome : outcomes) {
    totals.quota_violations += outcome.laws[law].quota_violations;
  }
  const std::vector<Sample> samples = Samples(outcomes, law);
  totals.phases = static_cast<int>(samples.size());
  totals.goodput_mean = Mean(samples, &PhaseScore::goodput);
  totals.p99_mean = Mean(samples, &PhaseScore::p99);
  totals.overshoot = Mean(samples, &PhaseScore::overshoot);
  totals.oscillation = Mean(samples, &PhaseScore::oscillation);
  totals.fairness = Mean(samples, &PhaseScore::fairness);
  totals.probe_cost = Mean(samples, &PhaseScore::probe_cost);
  if (samples.empty()) {
    totals.goodput_worst = totals.p99_worst = kUnknown;
    totals.to_90_median = totals.to_90_max = kUnknown;
    return totals;
  }
  AddTimes(samples, totals);
  AddWorst(samples, totals);
  return totals;
}

}  // namespace

std::vector<LawTotals> Total(const std::vector<Outcome>& outcomes) {
  std::vector<LawTotals> totals;
  if (outcomes.empty()) return totals;
  for (std::size_t law = 0; law < outcomes.front().laws.size(); ++law) {
    totals.push_back(TotalOf(outcomes, law));
  }
  return totals;
}

}  // namespace plimsoll::cli
