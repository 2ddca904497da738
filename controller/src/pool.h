#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/time/time.h"
#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/controller/policy.h"
#include "plimsoll/core/random.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/window.h"

namespace plimsoll::internal {

// One law at work: gathers windows until there is enough to judge by, and moves the limit. Stands
// for the pool of all instances with scope fleet, for one instance with scope instance.
//
// What the law is told of an epoch:
//   latency   the policy's percentile of the calls that completed, or their mean by Little's law; a
//             latency that is not above zero never reaches a law
//   dropped   more than the tolerated share of the calls was dropped, or the latency is above the
//             policy's ceiling
//   samples   calls that succeeded or were dropped. Ignored ones are neither samples nor throughput
// With too few samples an epoch goes on, up to eight lengths; then it is thrown away, and the limit
// stays what it is: little traffic neither raises nor lowers it.
//
// Pure. Thread-compatible.
class LawRunner {
 public:
  // `law` must outlive the runner. `seed` is that of the draws handed to the law.
  LawRunner(const LimitAlgorithm& law, const WindowConfig& config, std::uint64_t seed, Instant now);

  // Goes on where `former` stood, which had a law of the same kind with other settings.
  void Continue(const LawRunner& former) { state_ = former.state_; }

  // What one instance measured. Windows of several instances add up as running side by side.
  void Add(const Window& window);
  struct Outcome {
    WindowOutcome window = WindowOutcome::kUsed;
    std::optional<Decision> decision;  // if the window was used
    Calls before = 0;                  // the limit before the decision
  };
  // Ends the epoch if it is over, and lets the law decide. Nothing while the epoch goes on.
  // `in_flight_max` is the highest number of calls in flight in the epoch, summed over instances;
  // `measured` for how long the instance that measured longest did so, on its own clock.
  std::optional<Outcome> Advance(Calls in_flight_max, absl::Duration measured, Instant now);
  // The same without the law: it is told nothing. True if the epoch was over.
  bool Pass(Calls in_flight_max, Instant now);

  Calls limit() const { return law_.Limit(state_); }
  // Of the epoch that ended last.
  const Window& last_window() const { return last_; }
  absl::Duration last_epoch() const { return last_epoch_; }
  absl::Duration last_latency() const { return last_latency_; }
  Calls last_in_flight_max() const { return last_in_flight_max_; }
  const std::optional<Decision>& last_decision() const { return last_decision_; }

 private:
  // Closes the epoch.
  void Close(Calls in_flight_max, Instant now);
  Observation Observe(absl::Duration measured, Instant now);

  const LimitAlgorithm& law_;
  WindowConfig config_;
  LawState state_;
  Random random_;
  Instant opened_at_;
  Instant observed_at_;  // when the law was last told something
  Window gathered_;

  Window last_;
  absl::Duration last_epoch_;
  absl::Duration last_latency_;
  Calls last_in_flight_max_ = 0;
  std::optional<Decision> last_decision_;
};

// The latency of a window that the policy wants the law to see; zero if there is none.
//
// The mean is that of Little's law, so that calls which hang count while they hang. Ignored calls
// are in it, time and number. Where they are more than one in twenty of all that ended, it is the
// mean of the completed ones instead, from their histogram: ignored calls must not speak.
absl::Duration LatencyOf(const Window& window, const WindowConfig& config);

// How many calls one instance could use, in two figures.
//
// Need is what it must be able to have at once: the most that was seen in flight or waiting. It
// rises at once and falls by a tenth a second, so that a pause between two bursts does not cost the
// share.
//
// Load is the mean of what would be in flight if nobody were refused. By Little's law the refused
// would be in flight with their rate times the time that a call takes:
//   load = mean in flight + mean waiting + refused per second * mean latency.
// A maximum of short windows is mostly luck, so this is a mean over as long as it takes for enough
// calls to end, at least a second and at most ten. If the last one or two seconds say something
// that luck does not explain, the traffic has changed, and what was before is forgotten.
//
// Capacity is divided in proportion to the load, up to what the need says. Pure. Thread-compatible.
class Demand {
 public:
  // A newcomer counts as one call.
  explicit Demand(Instant now) : at_(now) {}

  // What was measured since the last report. `latency` is what a call takes in the pool, for an
  // instance in which too few ended to tell.
  void Report(Calls in_flight_max, Calls waiting, const Window& sum, Calls limit,
              absl::Duration latency, Instant now);
  // In calls, at least 0, as of the last report, with decay since.
  double Need(Instant now) const;
  double Load() const { return load_; }
  // Assume at least this much until reports say more: for sessions known only from the store.
  void AssumeAtLeast(double calls);

 private:
  // Sums over the recent past.
  struct Past {
    double seconds = 1;
    double in_flight = 1;  // call-seconds, of waiting calls too
    double ended = 0;
    double refused = 0;
  };
  struct Memory {
    double calls;  // ended or refused: enough to judge by
    double seconds_min;
    double seconds_max;
  };
  static void Remember(Past& past, const Memory& memory, Calls waiting, const Window& sum);
  static double Offered(const Past& past, absl::Duration latency);

  Instant at_;
  double need_ = 1;
  double load_ = 1;
  Past long_;
  Past short_;
};

}  // namespace plimsoll::internal
