#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>

#include "absl/time/time.h"
#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/algorithms/config.h"
#include "plimsoll/core/check.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// `value` brought between floor and ceiling; the floor if it is not a number.
inline double Bounded(const AlgorithmConfig& config, double value) {
  if (!(value > config.floor)) return config.floor;
  return std::min(value, static_cast<double>(config.ceiling));
}

// Whole nanoseconds; saturates, so an infinite latency stays a finite number and no law can come to
// divide infinity by infinity.
inline std::int64_t LatencyNs(const Observation& observation) {
  return absl::ToInt64Nanoseconds(observation.latency);
}

// False if there is nothing to learn: no call ended, or the clock of the caller went wrong.
inline bool IsUsable(const Observation& observation) {
  return observation.samples > 0 && LatencyNs(observation) > 0;
}

// The state as the type that the law works on.
template <typename State, typename Variant>
auto& StateOf(Variant& state) {
  auto* const own = std::get_if<State>(&state);
  PLIMSOLL_CHECK(own != nullptr, "the state belongs to another law");
  return *own;
}

// The reason of a step that wanted `unclamped`: the bound that cut it short, or else `reason`.
inline Reason ReasonWithin(const AlgorithmConfig& config, double unclamped, Reason reason) {
  if (unclamped > config.ceiling) return Reason::kCeiling;
  if (unclamped < config.floor) return Reason::kFloor;
  return reason;
}

}  // namespace plimsoll::internal
