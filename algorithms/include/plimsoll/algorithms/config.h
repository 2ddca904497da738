#pragma once

#include <optional>
#include <string>
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

// Compares latency with its own long average. It needs no threshold; latency that stays high even
// at the floor becomes normal.
struct Gradient2Config {
  double smoothing = 0.2;             // weight of the new limit, (0, 1]
  double rtt_tolerance = 1.5;         // latency may exceed the average by this factor, >= 1
  Calls queue_size = 4;               // allowed queue, added at every step, >= 1: with 0 the
                                      // limit could fall, but never rise again
  bool queue_by_square_root = false;  // queue = max(queue_size, sqrt(limit)) instead
  int long_window = 600;              // samples of the long average, >= 1
  int warmup_window = 10;             // samples averaged arithmetically first, >= 1
};

// A number of calls that may grow with the limit: `factor`, or `factor` times the decimal logarithm
// of the limit, rounded down and at least 1 below a limit of 1000.
struct LogRule {
  bool by_log10 = true;
  Calls factor = 1;
  friend bool operator==(const LogRule&, const LogRule&) = default;
};

// "log10", "3*log10" or "4"; the reverse takes these, and "fixed:4". Nothing for any other text.
std::string ToString(const LogRule& rule);
std::optional<LogRule> ParseLogRule(std::string_view text);

// How vegas moves the limit.
enum class VegasStep {
  kAddLog10,       // limit + log10(limit)
  kSubtractLog10,  // limit - log10(limit)
  kHalve,          // limit / 2
};

// "limit+log10", "limit-log10", "limit/2".
std::string_view ToString(VegasStep step);

// Estimates the queue from the lowest latency seen, and keeps it between two bounds. For steady
// latencies; every lengthening that is not a queue lowers the limit.
struct VegasConfig {
  double smoothing = 1;  // weight of the new limit, (0, 1]; smaller is calmer and slower
  // The calls that may wait. Up to `threshold` the limit rises by beta, below alpha by a step,
  // above beta it falls by a step. Larger values buy throughput with latency. Factors [1, 10^6],
  // that of threshold [0, 10^6].
  LogRule alpha{true, 3};
  LogRule beta{true, 6};
  LogRule threshold{true, 1};
  VegasStep increase = VegasStep::kAddLog10;       // kAddLog10
  VegasStep decrease = VegasStep::kSubtractLog10;  // kSubtractLog10 or kHalve; halve if overload
                                                   // is dear
  // The baseline may rise after about three quarters of this times the limit observations, [1,
  // 10^6]. Smaller follows a dependency that has become slower sooner.
  int probe_multiplier = 30;
  // The latency without a queue, if you know it; 0: learn it. >= 0. Safer than any that is learnt.
  absl::Duration fixed_baseline = absl::ZeroDuration();
  // For the conformance tests: what the reference draws at random from [0.5, 1).
  std::optional<double> pin_probe_jitter;
};

// Compares latency with the lowest seen. For dependencies whose latency without load is steady.
struct GradientConfig {
  double smoothing = 0.2;            // weight of the new limit when it falls, (0, 1]
  double rtt_tolerance = 2;          // latency may exceed the baseline by this factor, >= 1
  Calls queue_size = 4;              // allowed queue, added while latency is tolerable, [1, 10^6]
  bool queue_by_square_root = true;  // queue = max(queue_size, sqrt(limit)) instead
  double backoff = 0.9;              // the limit is multiplied by this on overload, [0.5, 1)
  // The baseline may rise after one to two times this many observations; -1: only at the floor.
  // -1 or [1, 10^6]. Smaller follows a dependency that has become slower sooner.
  int probe_interval = 1000;
  // As that of vegas.
  absl::Duration fixed_baseline = absl::ZeroDuration();
  // For the conformance tests: what the reference draws at random.
  std::optional<int> pin_probe_countdown;
};

// How a law lowers the limit for a moment to see the latency without a queue. It halves the limit
// as long as that shortens the latency: the calls it refuses would only have waited.
struct ProbeConfig {
  // A probe goes no lower than this, nor below the floor. [1, 10^6]. Larger refuses fewer calls,
  // and leaves more of a queue in the baseline.
  Calls limit = 10;
  // Calls that must end at each limit that is tried. [1, 10^6]. More: surer and longer.
  int samples = 50;
  // Time from one probe to the next, [1 s, 24 h], lengthened at random by up to the share `jitter`,
  // [0, 1], so that instances do not probe together. Shorter follows a dependency that has become
  // slower sooner, and refuses more calls.
  absl::Duration interval = absl::Minutes(1);
  double jitter = 0.15;
};

// Multiplies the limit by baseline / latency, and adds its square root. Give it the median latency
// (window: percentile 0.5) and windows of 100 ms to 1 s.
struct EnvoyGradientConfig {
  double buffer = 0.25;  // latency may exceed the baseline by this share, [0, 10]
  ProbeConfig probe;
  // So many observations in a row at the floor begin a probe. [1, 1000].
  int floor_updates = 5;
  // As that of vegas; with it there are no probes.
  absl::Duration fixed_baseline = absl::ZeroDuration();
};

// The bandwidth-delay product: the best rate seen times the latency without a queue. Give it the
// mean latency and windows of 100 ms to 1 s.
struct BdpConfig {
  // The limit exceeds the product by a share between these. [0, 1], min <= max. More finds
  // capacity that came back sooner, and lets more calls wait.
  double explore_min = 0.06;
  double explore_max = 0.30;
  // Latency up to this share above the baseline counts as noise, not as a queue. [0, 10]. More
  // refuses fewer calls when latency is noisy, and lets more calls wait.
  double buffer = 0.25;
  double fail_punish = 1;  // weight of the time of failed calls, [0, 100]
  // Fewer calls do not move the limit, but are kept for the next observation. [1, 10^6].
  int samples_min = 20;
  ProbeConfig probe{.interval = absl::Seconds(25), .jitter = 1};
  // As that of vegas; with it there are no probes.
  absl::Duration fixed_baseline = absl::ZeroDuration();
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
  VegasConfig vegas;
  GradientConfig gradient;
  Gradient2Config gradient2;
  EnvoyGradientConfig envoy_gradient;
  BdpConfig bdp;
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
