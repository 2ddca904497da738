#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

enum class AlgorithmKind {
  kFixed,
  kAimd,
  kVegas,
  kGradient,
  kGradient2,
  kEnvoyGradient,
  kBdp,
  kFleetKnee,  // a law of pools (fleet_knee.h); the others look at one window
};

// The names used in configuration and REST: "fixed", "aimd", "fleet_knee".
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

// Finds the knee of throughput against concurrency from small coordinated changes of the limits,
// pooled over all replicas: fleet_knee.h has the law. The defaults need no tuning; what an operator
// may want to choose is `theta`.
struct FleetKneeConfig {
  // One per cent more concurrency must bring at least theta per cent more throughput. Smaller
  // values trade latency for the last bit of throughput. [0.05, 0.30].
  double theta = 0.15;
  // Measurement epochs last ten latencies, between these. [100 ms, 60 s], min <= max. Shorter
  // epochs decide faster and cost more messages and a louder dither.
  absl::Duration epoch_min = absl::Milliseconds(500);
  absl::Duration epoch_max = absl::Seconds(4);
  // An epoch goes on until so many calls have ended per replica (in the pool, if the dependency is
  // shared), at most eight times its length. [5, 1000]. More: surer and slower.
  int samples_min = 20;
  // The dither is as loud as the precision needs, between these shares of the limit.
  // [0.01, 0.5], min <= max.
  double dither_min = 0.06;
  double dither_max = 0.30;
  // The limit is lowered, whatever throughput says, while the latency (the percentile that the
  // policy's window names) is above this. Infinite: no such target. > 0.
  absl::Duration latency_target = absl::InfiniteDuration();
};

// One law and its bounds. floor and ceiling bind every law.
struct AlgorithmConfig {
  AlgorithmKind kind = AlgorithmKind::kFixed;
  Calls floor = 5;      // >= 1; a limit of 0 would never see a call again
  Calls ceiling = 200;  // >= floor, <= kCallsMax
  Calls initial = 20;   // between floor and ceiling; the limit of `fixed`
  AimdConfig aimd;
  Gradient2Config gradient2;
  FleetKneeConfig fleet_knee;
  // Reproduces the reference implementation bit by bit, its known faults included: the floor and
  // the queue may be 0, `initial` may lie outside the bounds, the floor above the ceiling, drops
  // are ignored where the reference ignores them. For the conformance tests only; the configuration
  // file cannot set it.
  bool reference_exact = false;
};

// Lists every violation as name, value and rule. OK if there is none.
absl::Status Validate(const AlgorithmConfig& config);

}  // namespace plimsoll
