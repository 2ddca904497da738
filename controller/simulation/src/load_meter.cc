#include "controller/simulation/src/load_meter.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::internal {
namespace {

double PerSecond(std::int64_t count, absl::Duration time) {
  return time > absl::ZeroDuration() ? static_cast<double>(count) / absl::ToDoubleSeconds(time) : 0;
}

}  // namespace

void FineHistogram::Clear() {
  if (total_ == 0) return;
  std::fill(counts_.begin(), counts_.end(), 0);
  total_ = 0;
  sum_ = 0;
}

absl::Duration FineHistogram::Mean() const {
  return total_ == 0 ? absl::ZeroDuration() : absl::Nanoseconds(sum_ / total_);
}

absl::Duration FineHistogram::Quantile(double share) const {
  if (total_ == 0) return absl::ZeroDuration();
  const auto rank =
      std::min(total_ - 1, static_cast<std::int64_t>(share * static_cast<double>(total_)));
  std::int64_t seen = 0;
  std::size_t bucket = 0;
  while (seen + counts_[bucket] <= rank) seen += counts_[bucket++];
  const double low = std::bit_cast<double>((kFirst + bucket) << kShift);
  const double high = std::bit_cast<double>((kFirst + bucket + 1) << kShift);
  return absl::Nanoseconds((low + high) / 2);
}

void LoadMeter::Counts::Clear() {
  offered = completed = good = rejected = 0;
  latency.Clear();
}

LoadMeter::LoadMeter(const LoadScenario& scenario, int replicas, LoadRun& run)
    : scenario_(scenario), run_(run), completed_by_replica_(static_cast<std::size_t>(replicas)) {}

void LoadMeter::Completed(int replica, std::int64_t latency_ns, bool good) {
  ++sample_.completed;
  ++phase_.completed;
  ++completed_by_replica_[static_cast<std::size_t>(replica)];
  sample_.latency.Add(latency_ns);
  phase_.latency.Add(latency_ns);
  if (!good) {
    ++run_.late;
    return;
  }
  ++sample_.good;
  ++phase_.good;
  ++run_.good;
}

void LoadMeter::BeginPhase(std::size_t phase, absl::Duration at, const std::vector<int>& there) {
  if (phase > 0) EndPhase(at, there);
  phase_index_ = phase;
}

void LoadMeter::TakeSample(absl::Duration at, const FleetNow& fleet) {
  const absl::Duration since = at - sampled_at_;
  LoadSample sample;
  sample.at = at;
  sample.replicas = fleet.replicas;
  sample.limits = fleet.limits;
  sample.limit = fleet.replicas > 0 ? static_cast<double>(fleet.limits) / fleet.replicas : 0;
  sample.in_flight = fleet.in_flight;
  sample.offered = PerSecond(sample_.offered, since);
  sample.completed = PerSecond(sample_.completed, since);
  sample.good = PerSecond(sample_.good, since);
  sample.rejected = PerSecond(sample_.rejected, since);
  sample.latency_mean = sample_.latency.Mean();
  sample.latency_p99 = sample_.latency.Quantile(0.99);
  run_.samples.push_back(sample);
  sample_.Clear();
  sampled_at_ = at;
}

void LoadMeter::EndPhase(absl::Duration at, const std::vector<int>& there) {
  PhaseResult result;
  result.name = scenario_.phases[phase_index_].name;
  result.start = scenario_.phases[phase_index_].start;
  result.length = at - result.start;
  result.offered = PerSecond(phase_.offered, result.length);
  result.good = PerSecond(phase_.good, result.length);
  result.rejected = PerSecond(phase_.rejected, result.length);
  result.latency_mean = phase_.latency.Mean();
  result.latency_p50 = phase_.latency.Quantile(0.5);
  result.latency_p99 = phase_.latency.Quantile(0.99);
  result.fairness = Fairness(there);
  AddLimits(result);
  run_.phases.push_back(result);
  phase_.Clear();
  std::fill(completed_by_replica_.begin(), completed_by_replica_.end(), 0);
}

void LoadMeter::AddLimits(PhaseResult& result) const {
  std::vector<double> limits;
  for (const LoadSample& sample : run_.samples) {
    if (sample.at > result.start && sample.at <= result.start + result.length) {
      limits.push_back(sample.limit);
    }
  }
  if (limits.empty()) return;
  result.limit_max = *std::max_element(limits.begin(), limits.end());
  const std::size_t half = limits.size() / 2;
  const auto count = static_cast<double>(limits.size() - half);
  for (std::size_t i = half; i < limits.size(); ++i) result.limit_mean += limits[i] / count;
  double variance = 0;
  for (std::size_t i = half; i < limits.size(); ++i) {
    variance += (limits[i] - result.limit_mean) * (limits[i] - result.limit_mean) / count;
  }
  result.limit_deviation = std::sqrt(variance);
}

// Jain's index: 1 if all are equal, 1/n if one has everything.
double LoadMeter::Fairness(const std::vector<int>& there) const {
  double sum = 0;
  double squares = 0;
  for (const int replica : there) {
    const auto x = static_cast<double>(completed_by_replica_[static_cast<std::size_t>(replica)]);
    sum += x;
    squares += x * x;
  }
  return squares > 0 ? sum * sum / (static_cast<double>(there.size()) * squares) : 1;
}

}  // namespace plimsoll::internal
