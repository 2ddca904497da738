#include <algorithm>
#include <cmath>

#include "controller/simulation/src/load_engine.h"
#include "plimsoll/simulation/load_simulator.h"

namespace plimsoll {
namespace {

constexpr absl::Duration kTrial = absl::Seconds(12);
constexpr std::uint64_t kTrialSeed = 99;
constexpr Calls kLargestTried = 600;
constexpr double kStep = 1.12;
// Past the best by so much, and above so small a limit, nothing better comes any more.
constexpr double kHopeless = 0.4;
constexpr Calls kHopelessAbove = 8;
constexpr double kAsGoodAsBest = 0.99;

constexpr double kConverged = 0.9;
constexpr int kConvergedSamples = 6;
constexpr absl::Duration kConvergedFor = absl::Seconds(3);

// The dependency as it is in that phase, with every replica there and even load, for one trial.
LoadScenario Flat(const LoadScenario& scenario, std::size_t phase) {
  LoadScenario flat = scenario;
  flat.station = internal::StationAt(scenario, phase);
  flat.replicas = internal::ReplicasAt(scenario, phase);
  // With less quota than clients, some have nothing to admit their part of the calls with.
  double heard = 1;
  if (scenario.shared && scenario.policy.quota && *scenario.policy.quota < flat.replicas) {
    heard = static_cast<double>(*scenario.policy.quota) / flat.replicas;
    flat.replicas = *scenario.policy.quota;
  }
  LoadPhase only;
  only.name = scenario.phases[phase].name;
  only.load = heard * scenario.phases[phase].load * internal::NominalCapacity(scenario) /
              internal::NominalCapacity(flat);
  flat.phases = {only};
  flat.length = kTrial;
  flat.traffic.clear();
  flat.late_replica.reset();
  flat.crashes.clear();
  return flat;
}

struct Trial {
  Optimum result;
  bool refused = false;
};

Trial Try(const LoadScenario& flat, Calls limit) {
  LawUnderTest law;
  law.static_limit = limit;
  LoadOptions options;
  options.seed = kTrialSeed;
  const LoadRun run = SimulateLoad(flat, law, options);
  return {{limit, run.phases[0].good, run.phases[0].latency_p99}, run.refusals > 0};
}

Calls Next(Calls limit) {
  return std::max(limit + 1, static_cast<Calls>(std::floor(kStep * limit)));
}

// Until so many samples in a row were as good as they need to be.
void ScoreConvergence(const PhaseResult& phase, const std::vector<LoadSample>& samples,
                      const Optimum& optimum, PhaseScore& score) {
  score.to_90 = phase.length;
  int in_a_row = 0;
  for (const LoadSample& sample : samples) {
    in_a_row = sample.good >= kConverged * optimum.good ? in_a_row + 1 : 0;
    if (in_a_row < kConvergedSamples) continue;
    score.converged = true;
    score.to_90 = std::max(absl::ZeroDuration(), sample.at - phase.start - kConvergedFor);
    return;
  }
}

// Of what was refused at a limit below the optimum's: what the optimum would not have refused
// either, because it is more than it can do.
double ProbeCost(const std::vector<LoadSample>& samples, const Optimum& optimum) {
  double refused = 0;
  double offered = 0;
  for (const LoadSample& sample : samples) {
    offered += sample.offered;
    if (sample.limit >= static_cast<double>(optimum.limit)) continue;
    refused += std::max(0.0, sample.rejected - std::max(0.0, sample.offered - optimum.good));
  }
  return offered > 0 ? refused / offered : 0;
}

}  // namespace

Optimum FindOptimum(const LoadScenario& scenario, std::size_t phase) {
  const LoadScenario flat = Flat(scenario, phase);
  const Calls most = scenario.policy.quota ? *scenario.policy.quota / flat.replicas : kCallsMax;
  std::vector<Optimum> tried;
  double best = 0;
  for (Calls limit = 1; limit <= std::clamp(most, 1, kLargestTried); limit = Next(limit)) {
    const Trial trial = Try(flat, limit);
    tried.push_back(trial.result);
    best = std::max(best, trial.result.good);
    if (trial.result.good < kHopeless * best && limit > kHopelessAbove) break;
    if (!trial.refused) break;  // larger ones would make the same run
  }
  return *std::find_if(tried.begin(), tried.end(),
                       [best](const Optimum& one) { return one.good >= kAsGoodAsBest * best; });
}

PhaseScore Score(const PhaseResult& phase, const std::vector<LoadSample>& samples,
                 const Optimum& optimum) {
  std::vector<LoadSample> inside;
  for (const LoadSample& sample : samples) {
    if (sample.at > phase.start && sample.at <= phase.start + phase.length) {
      inside.push_back(sample);
    }
  }
  PhaseScore score;
  if (optimum.good > 0) score.goodput = phase.good / optimum.good;
  if (optimum.latency_p99 > absl::ZeroDuration()) {
    score.p99 = absl::FDivDuration(phase.latency_p99, optimum.latency_p99);
  }
  if (optimum.limit > 0) {
    score.limit = phase.limit_mean / optimum.limit;
    score.overshoot = phase.limit_max / optimum.limit;
  }
  if (phase.limit_mean > 0) score.oscillation = phase.limit_deviation / phase.limit_mean;
  score.fairness = phase.fairness;
  score.probe_cost = ProbeCost(inside, optimum);
  ScoreConvergence(phase, inside, optimum, score);
  return score;
}

bool IsOverload(const LoadScenario& scenario, std::size_t phase) {
  Station station = internal::StationAt(scenario, phase);
  double capacity = internal::Capacity(station);
  if (!scenario.shared) capacity *= internal::ReplicasAt(scenario, phase);
  if (scenario.slow_replica_servers) {
    capacity -= internal::Capacity(station);
    station.servers = *scenario.slow_replica_servers;
    capacity += internal::Capacity(station);
  }
  return scenario.phases[phase].load * internal::NominalCapacity(scenario) > capacity * (1 + 1e-9);
}

}  // namespace plimsoll
