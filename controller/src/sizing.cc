#include "plimsoll/controller/sizing.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "controller/src/sizing_words.h"

namespace plimsoll {
namespace {

// Fewer steps or calls say nothing of the traffic.
constexpr int kStepsMin = 12;
constexpr double kCallsMin = 100;
constexpr double kHeadroomOfCritical = 2;

Calls RoundUp(double calls) {
  // A hair above a whole number is what floating point makes of it.
  return static_cast<Calls>(std::ceil(std::clamp(calls - 1e-9, 1.0, double{kCallsMax})));
}

double InFlight(double per_second, absl::Duration time) {
  return per_second * absl::ToDoubleSeconds(time);
}

template <typename Value>
Value Median(std::vector<Value> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Use {
  double enforced = 0;
  double in_flight = 0;
  double in_flight_max = 0;
};

std::map<DependencyId, Use> UseByDependency(const Snapshot& snapshot) {
  std::map<DependencyId, Use> uses;
  for (const LimitRow& row : snapshot.limits) {
    if (row.fenced) continue;
    Use& use = uses[row.dependency];
    use.enforced += row.enforced;
    use.in_flight += row.in_flight;
    use.in_flight_max += std::max(row.in_flight_max, row.in_flight);
  }
  return uses;
}

void AddNumbers(const DependencyRow& row, SizingAdvice& advice) {
  const double mean = InFlight(advice.arrivals_peak, advice.latency_mean);
  advice.in_flight_by_mean = RoundUp(mean);
  advice.in_flight_by_p99 = RoundUp(InFlight(advice.arrivals_peak, advice.latency_p99));
  advice.critical = std::max(RoundUp(kHeadroomOfCritical * mean), *advice.in_flight_by_p99);
  advice.optional = advice.in_flight_by_mean;
  advice.quota = advice.critical;

  const double instances = std::max(advice.instances, 1);
  advice.floor = RoundUp(InFlight(advice.arrivals_mean, advice.latency_mean) / instances);
  const double left = std::max(1.0, std::floor(instances / 2));
  const Calls part = RoundUp(*advice.critical / left);
  advice.ceiling = std::max(part, *advice.floor);
  if (row.policy.quota.has_value()) {
    advice.ceiling = std::min(*advice.ceiling, std::max(*row.policy.quota, *advice.quota));
  }
}

}  // namespace

void SizingAdvisor::Observe(const Snapshot& snapshot) {
  const std::map<DependencyId, Use> uses = UseByDependency(snapshot);
  std::map<DependencyId, Past> pasts;
  for (const DependencyRow& row : snapshot.dependencies) {
    Past past = std::move(pasts_[row.policy.name]);
    past.last = row;
    const double arrivals = row.admitted_per_second + row.rejected_per_second;
    if (arrivals > 0) {
      Step step{snapshot.at, arrivals, row.rejected_per_second, row.latency_mean, row.latency_p99,
                0,           0};
      const auto use = uses.find(row.policy.name);
      if (use != uses.end() && use->second.enforced > 0) {
        step.utilisation = use->second.in_flight / use->second.enforced;
        step.utilisation_peak = use->second.in_flight_max / use->second.enforced;
      }
      past.steps.push_back(step);
      if (past.steps.size() > static_cast<std::size_t>(steps_max_)) past.steps.pop_front();
    }
    pasts.emplace(row.policy.name, std::move(past));
  }
  pasts_ = std::move(pasts);
}

std::vector<SizingAdvice> SizingAdvisor::Advise() const {
  std::vector<SizingAdvice> advice;
  advice.reserve(pasts_.size());
  for (const auto& [dependency, past] : pasts_) advice.push_back(AdviseOn(dependency, past));
  return advice;
}

SizingAdvice SizingAdvisor::AdviseOn(const DependencyId& dependency, const Past& past) const {
  SizingAdvice advice;
  advice.dependency = dependency;
  advice.configured_quota = past.last.policy.quota;
  advice.configured_floor = past.last.policy.algorithm.floor;
  advice.configured_ceiling = past.last.policy.algorithm.ceiling;
  advice.steps = static_cast<int>(past.steps.size());
  advice.instances = past.last.instances;
  double refused = 0;
  double taken = 0;
  absl::Duration latency;
  std::vector<absl::Duration> p99;
  for (const Step& step : past.steps) {
    advice.arrivals_mean += step.arrivals;
    advice.arrivals_peak = std::max(advice.arrivals_peak, step.arrivals);
    advice.utilisation_mean += step.utilisation;
    advice.utilisation_peak = std::max(advice.utilisation_peak, step.utilisation_peak);
    advice.full_share += step.utilisation > internal::kUseHigh ? 1 : 0;
    refused += step.refused;
    if (step.latency_mean <= absl::ZeroDuration()) continue;
    taken += step.arrivals - step.refused;
    latency += step.latency_mean * (step.arrivals - step.refused);
    p99.push_back(step.latency_p99);
  }
  if (!past.steps.empty()) {
    const double steps = advice.steps;
    advice.span = past.steps.back().at - past.steps.front().at;
    advice.refused_share = refused / advice.arrivals_mean;
    advice.arrivals_mean /= steps;
    advice.utilisation_mean /= steps;
    advice.full_share /= steps;
  }
  if (taken > 0) {
    advice.latency_mean = latency / taken;
    advice.latency_p99 = Median(std::move(p99));
  }
  const double calls = advice.arrivals_mean * absl::ToDoubleSeconds(advice.span);
  if (advice.steps >= kStepsMin && calls >= kCallsMin && taken > 0) AddNumbers(past.last, advice);
  internal::AddReasons(advice);
  internal::AddRemarks(past.last, advice);
  return advice;
}

}  // namespace plimsoll
