#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

// Gathers single calls into observations for a law, where no controller gathers windows.
struct WindowedConfig {
  // A window lasts twice its shortest call, between these. [100 ms, 60 s], min <= max. Longer
  // windows are calmer and slower.
  absl::Duration window_min = absl::Seconds(1);
  absl::Duration window_max = absl::Seconds(1);
  // A window with fewer calls is not given to the law; it goes on, for ten times window_max at
  // most. [1, 10^6]. More: surer and slower.
  int samples_min = 10;
  // Shorter calls that succeeded are left out: they never reached the dependency. >= 0.
  absl::Duration latency_min = absl::Microseconds(100);
  // Latency is this percentile of the first `percentile_calls` calls that succeeded, instead of the
  // mean. (0, 1), and [1, 10^4].
  std::optional<double> percentile;
  int percentile_calls = 100;
  // A larger share of dropped calls counts as overload. [0, 1).
  double drop_tolerance = 0.05;
  // As that of AlgorithmConfig. It widens the ranges to "not negative", and min > max is allowed.
  bool reference_exact = false;
};

// Lists every violation as `windowed.name = value: rule`. OK if there is none.
absl::Status Validate(const WindowedConfig& config);

// One call that has ended.
struct CallSample {
  Instant start;        // of the caller's clock, which may be negative
  absl::Duration rtt;   // what is not positive is no latency; a drop still counts
  Calls in_flight = 0;  // right after this call was admitted, itself included
  bool dropped = false;
};

// The window that is open, as a value.
struct WindowedState {
  bool is_open = false;
  std::int64_t opened_ns = 0;    // begin of the window
  std::int64_t due_ns = 0;       // it ends with the first call that ends later, and has enough
  std::int64_t last_end_ns = 0;  // latest end of a call
  std::optional<std::int64_t> observed_ns;  // end of the observation before
  std::int64_t samples = 0;
  std::int64_t failed = 0;
  Calls in_flight = 0;          // the most
  std::uint64_t sum_ns = 0;     // of the latencies that count
  std::uint64_t failed_ns = 0;  // of the dropped calls
  std::int64_t shortest_ns = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> latencies_ns;  // for the percentile
  friend bool operator==(const WindowedState&, const WindowedState&) = default;
};

// Ends a window with the first call that ends after it is due:
//
//   due = end of the window before + min(max(2 * its shortest call, window_min), window_max)
//   latency = mean or percentile,  in_flight = the most of any call
//
// Beyond the source:
//
//   - A dropped call counts however short it was, and its time is no latency; only if all calls
//   were
//     dropped is their mean time handed on. A window is dropped if more than drop_tolerance of its
//     calls were, not if one was.
//   - Once samples_min calls were dropped, a window ends after a tenth of window_min already: a
//   burst
//     of refusals is answered while it lasts, at most ten times per window_min.
//   - A window that is due with too few calls goes on instead of being thrown away; after ten times
//     window_max it is handed on with what it has.
//   - If no call ended for ten times window_max, what the open window held is forgotten: it says
//     nothing of now.
//   - The first call opens the first window, whatever the clock says; in the source a clock below
//     zero ends none.
//
// Reference-exact mode has none of these. `draw` of the observation is left at its default: the
// caller sets it. `length` is that of the window, and `elapsed` counts from the observation before.
//
// Pure: no clock, no randomness, no I/O; what is learnt is in the state. Source of the rule:
// WindowedLimit of Netflix/concurrency-limits. Thread-safe.
class Windowed {
 public:
  // `config` must be valid.
  explicit Windowed(const WindowedConfig& config) : config_(config) {}

  // Takes one ended call. Returns an observation if that ended a window.
  std::optional<Observation> Add(WindowedState& state, const CallSample& call) const;

 private:
  std::optional<Observation> AddExactly(WindowedState& state, const CallSample& call) const;
  std::optional<Observation> AddSafely(WindowedState& state, const CallSample& call) const;
  bool Ends(const WindowedState& state, std::int64_t end_ns) const;
  Observation Observe(const WindowedState& state, std::int64_t end_ns) const;
  std::int64_t LatencyOf(const WindowedState& state) const;
  // The time for which the next window must stay open.
  std::int64_t LengthAfter(std::int64_t shortest_ns) const;

  const WindowedConfig config_;
};

}  // namespace plimsoll
