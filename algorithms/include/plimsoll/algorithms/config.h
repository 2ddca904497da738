#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

enum class AlgorithmKind { kFixed, kAimd, kGradient2 };

// The names used in configuration and REST: "fixed", "aimd", "gradient2".
std::string_view ToString(AlgorithmKind kind);

// `additive increase, multiplicative decrease`: blind to latency below `latency_threshold`, so set
// that to what callers accept.
struct AimdConfig {
  // A window whose latency is above this counts as overload. > 0.
  absl::Duration latency_threshold = absl::Seconds(5);
  // The limit is multiplied by this on overload. [0.5, 1). Smaller recovers the dependency faster
  // and wastes more of it.
  double backoff = 0.9;
  // Added after each window in which at least half of the limit was used. >= 1.
  Calls increase = 1;
};

// Compares latency with its own long average. It needs no threshold, but learns overload as normal
// if that lasts; algorithms/README.md says how fast.
struct Gradient2Config {
  double smoothing = 0.2;             // weight of the new limit, (0, 1]
  double rtt_tolerance = 1.5;         // latency may exceed the average by this factor, >= 1
  Calls queue_size = 4;               // allowed queue, added at every step, >= 1: with 0 the
                                      // limit could fall, but never rise again
  bool queue_by_square_root = false;  // queue = max(queue_size, sqrt(limit)) instead
  int long_window = 600;              // samples of the long average, >= 1
  int warmup_window = 10;             // samples averaged arithmetically first, >= 1
};

// One law and its bounds. floor and ceiling bind every law.
struct AlgorithmConfig {
  AlgorithmKind kind = AlgorithmKind::kFixed;
  Calls floor = 5;      // >= 1; a limit of 0 would never see a call again
  Calls ceiling = 200;  // >= floor, <= kCallsMax
  Calls initial = 20;   // between floor and ceiling; the limit of `fixed`
  AimdConfig aimd;
  Gradient2Config gradient2;
  // Reproduces the reference implementation bit by bit, its known faults included: the floor and
  // the queue may be 0, `initial` may lie outside the bounds, the floor above the ceiling, drops
  // are ignored where the reference ignores them. For the conformance tests only; the configuration
  // file cannot set it.
  bool reference_exact = false;
};

// Lists every violation as name, value and rule. OK if there is none.
absl::Status Validate(const AlgorithmConfig& config);

}  // namespace plimsoll
