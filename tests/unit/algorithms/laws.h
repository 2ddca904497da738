#pragma once

#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "plimsoll/algorithms/algorithm.h"

namespace plimsoll {

inline AlgorithmConfig ConfigOf(AlgorithmKind kind, Calls floor, Calls initial, Calls ceiling) {
  AlgorithmConfig config;
  config.kind = kind;
  config.floor = floor;
  config.initial = initial;
  config.ceiling = ceiling;
  return config;
}

// The law of a configuration that must be valid.
inline std::unique_ptr<LimitAlgorithm> LawOf(const AlgorithmConfig& config) {
  auto law = MakeAlgorithm(config);
  EXPECT_TRUE(law.ok()) << law.status();
  return std::move(law).value();
}

inline Observation Saw(absl::Duration latency, Calls in_flight, bool dropped = false) {
  return {.latency = latency, .in_flight = in_flight, .dropped = dropped, .samples = 1};
}

}  // namespace plimsoll
