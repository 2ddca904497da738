#pragma once

#include <algorithm>

#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/algorithms/config.h"

namespace plimsoll::internal {

// So many observations in a row that find the limit too high although it is at the floor: the
// latency seen there is as near to "without a queue" as this law can come.
inline constexpr int kStuckAtFloor = 5;

// The lowest latency, learnt with care: one lucky window lowers it by a tenth at most, and it rises
// only when the caller vouches that no queue stands, by a factor of two at most.
inline double LearnBaseline(double baseline_ns, double latency_ns, bool may_rise) {
  constexpr double kFallsTo = 0.9;
  constexpr double kRisesTo = 2;
  if (baseline_ns <= 0) return latency_ns;
  if (latency_ns < baseline_ns) return std::max(latency_ns, baseline_ns * kFallsTo);
  return may_rise ? std::min(latency_ns, baseline_ns * kRisesTo) : baseline_ns;
}

// Counts the observations in a row that found the limit too high at the floor.
inline int CountAtFloor(int before, const AlgorithmConfig& config, const Decision& decision) {
  const bool too_high =
      decision.reason == Reason::kFloor || decision.reason == Reason::kLatencyRose;
  return too_high && decision.limit <= config.floor ? std::min(before + 1, kStuckAtFloor) : 0;
}

}  // namespace plimsoll::internal
