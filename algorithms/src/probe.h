#pragma once

#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/algorithms/config.h"

namespace plimsoll::internal {

// Learns the latency without a queue by lowering the limit for a moment.
//
// A probe halves the limit, or the calls in flight if they are fewer, and takes the mean latency of
// the calls that ended in windows which stayed within that limit. While halving makes calls about
// half as long, to 60 % at most, the dependency is saturated, and the calls refused would only have
// waited: it halves again, down to the lowest limit of a probe. Otherwise throughput has fallen, so
// no queue stands any more, and the latency is the baseline. So a probe costs half of the
// throughput at most, and only at its last step.
//
// A probe is given up, and the baseline stays, if calls are dropped or if it takes too many
// windows. Thread-safe.
class Probe {
 public:
  // `config` outlives the probe. `floor` is that of the law.
  Probe(const ProbeConfig& config, Calls floor) : config_(config), floor_(floor) {}

  static bool IsRunning(const ProbeState& state) { return state.limit > 0; }
  bool IsDue(const ProbeState& state) const { return state.due_in_ns <= 0; }
  // Lets time pass.
  void Elapse(ProbeState& state, const Observation& observation) const;

  // Begins a probe from `limit`, at which `latency_ns` was seen.
  void Begin(ProbeState& state, Calls limit, Calls in_flight, double latency_ns) const;
  // Takes an observation without drops that was made while a probe runs. At its end `baseline_ns`
  // is set, unless it took too long, and the next probe is scheduled.
  void Step(ProbeState& state, const Observation& observation, double& baseline_ns) const;
  // Ends a probe without a result, and schedules the next.
  void GiveUp(ProbeState& state, double draw) const;

 private:
  Calls Below(Calls limit, Calls in_flight) const;
  void Schedule(ProbeState& state, double draw) const;
  // From one probe to the next at most.
  double LongestNs() const;

  const ProbeConfig& config_;
  const Calls floor_;
};

// Of AIMD.
inline constexpr double kDropFactor = 0.9;

// A law's decision on an observation that was made while a probe runs; `limit` is what the law goes
// back to.
Decision StepProbe(const AlgorithmConfig& config, const Probe& probe,
                   const Observation& observation, ProbeState& state, double& limit,
                   double& baseline_ns);

}  // namespace plimsoll::internal
