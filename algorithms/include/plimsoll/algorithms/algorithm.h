#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plimsoll/algorithms/config.h"
#include "plimsoll/core/reason.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

// What a law is told: one window of one instance, or of the whole pool.
struct Observation {
  absl::Duration latency = absl::ZeroDuration();  // what the policy chose: a mean or a percentile
  Calls in_flight = 0;                            // the most calls in flight in the window
  bool dropped = false;                           // too many calls ended by overload
  std::int64_t samples = 0;                       // calls that ended in the window; >= 1
  std::int64_t failed = 0;                        // of these, ended by overload
  absl::Duration length = absl::ZeroDuration();   // of the window, on the clock that measured it
  absl::Duration elapsed = absl::ZeroDuration();  // since the observation before; >= length
  // Randomness is handed in: uniform in [0, 1), drawn anew for each observation.
  double draw = 0.5;
};

// A new limit and why. `limit` always lies between the floor and the ceiling of the config.
struct Decision {
  Calls limit = 0;
  // What the law would have liked, before floor and ceiling; for explanations.
  double unclamped = 0;
  // Why it differs from the limit before; if it does not, why it stayed.
  Reason reason = Reason::kInitial;
  // For explanations: the baseline the latency was compared with, zero if the law has none, and the
  // ratio by which the law shrank the limit, 1 if it has none.
  absl::Duration baseline = absl::ZeroDuration();
  double gradient = 1;
};

// The states of the laws, as values: copy one to ask what would happen.
struct FixedState {
  friend bool operator==(const FixedState&, const FixedState&) = default;
};
struct AimdState {
  Calls limit = 0;
  friend bool operator==(const AimdState&, const AimdState&) = default;
};
struct Gradient2State {
  double estimated_limit = 0;  // the limit before truncation
  double long_latency_ns = 0;  // the slow average that serves as baseline
  double warmup_sum_ns = 0;
  int warmup_count = 0;
  friend bool operator==(const Gradient2State&, const Gradient2State&) = default;
};
struct VegasState {
  double estimated_limit = 0;    // the limit before truncation
  std::int64_t baseline_ns = 0;  // the latency without a queue; 0: none yet
  int probe_count = 0;           // observations since the baseline was last free to rise
  double probe_jitter = 0.75;
  int at_floor = 0;  // observations in a row that found the limit too high at the floor
  friend bool operator==(const VegasState&, const VegasState&) = default;
};
struct GradientState {
  double estimated_limit = 0;
  double baseline_ns = 0;
  int probe_countdown = 0;  // observations until the baseline is free to rise
  int at_floor = 0;
  friend bool operator==(const GradientState&, const GradientState&) = default;
};
// Of the laws that lower the limit to learn the baseline.
struct ProbeState {
  Calls limit = 0;         // in force while a probe runs; 0: none runs
  double before_ns = 0;    // the latency at the limit tried before; 0: none was tried
  double latency_sum = 0;  // of the calls at this limit, in ns
  double samples = 0;      // calls at this limit
  int observations = 0;    // since the probe began
  double due_in_ns = 0;    // time until the next one
  friend bool operator==(const ProbeState&, const ProbeState&) = default;
};
struct EnvoyGradientState {
  double limit = 0;        // outside of probes
  double baseline_ns = 0;  // 0: none yet
  int at_floor = 0;
  ProbeState probe = {};
  friend bool operator==(const EnvoyGradientState&, const EnvoyGradientState&) = default;
};
struct BdpState {
  double limit = 0;             // outside of probes
  double baseline_ns = 0;       // 0: none yet
  double average_ns = 0;        // of late; 0: none yet
  double calls_per_second = 0;  // the best rate seen, slowly forgotten
  double explore = 0;
  // What is kept of observations with too few calls.
  double kept_ended = 0;
  double kept_failed = 0;
  double kept_latency_sum = 0;  // of all ended calls, in ns
  double kept_seconds = 0;
  int kept_observations = 0;
  double ignore_ns = 0;  // reference only: how long observations are not looked at
  ProbeState probe = {};
  friend bool operator==(const BdpState&, const BdpState&) = default;
};
using LawState = std::variant<FixedState, AimdState, Gradient2State, VegasState, GradientState,
                              EnvoyGradientState, BdpState>;

// A law: what the limit should be, given what was seen. The object holds only its configuration;
// what it learns is in the state that is handed in. Pure: no clock, no randomness, no I/O.
// Thread-safe.
class LimitAlgorithm {
 public:
  virtual ~LimitAlgorithm() = default;

  // The name in configuration and REST: "aimd".
  virtual std::string_view name() const = 0;
  virtual LawState InitialState() const = 0;
  // The limit that belongs to a state, between floor and ceiling.
  virtual Calls Limit(const LawState& state) const = 0;
  // Moves the state by one observation. Aborts if `state` belongs to another law.
  virtual Decision Decide(LawState& state, const Observation& observation) const = 0;
};

// Returns kInvalidArgument if Validate(config) finds faults, or for fleet_knee, which is no law of
// single windows.
absl::StatusOr<std::unique_ptr<LimitAlgorithm>> MakeAlgorithm(const AlgorithmConfig& config);

}  // namespace plimsoll
