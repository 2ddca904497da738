#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plimsoll/agent/bulkhead.h"
#include "plimsoll/agent/bulkhead_options.h"
#include "plimsoll/agent/metrics.h"

namespace plimsoll {

// Settings of a bulkhead that no controller looks after.
struct LocalBulkheadOptions {
  // What is protected: 1 to 63 letters, digits, '.', '_', '~', '-' that begin and end with a letter
  // or digit. Metric label.
  std::string dependency;

  // "fixed", "aimd", "vegas", "gradient", "gradient2", "envoy_gradient" or "bdp". What each reacts
  // to and where it fails: algorithms/README.md. The default needs no threshold.
  std::string algorithm = "gradient2";
  // Settings of the algorithm by name, as in that README and in the controller's configuration:
  // {{"latency_threshold", "250ms"}, {"backoff", "0.8"}}. What is not named has its default.
  std::map<std::string, std::string> settings;

  // 1 <= floor <= initial <= ceiling <= 1,000,000. The algorithm keeps the limit between them; a
  // floor that the dependency survives in any state is worth more than any setting. "fixed" stays
  // at `initial` and ignores the other two.
  int initial = 20;
  int floor = 1;
  int ceiling = 200;

  // The algorithm looks at windows of this length, 10 ms to 1 min. Shorter follows faster, and more
  // noise. One with fewer than `samples_min` ended calls, 1 to 1,000,000, goes on.
  std::chrono::nanoseconds window = std::chrono::milliseconds(500);
  int samples_min = 10;
  // What the algorithm takes for the latency of a window: this percentile of its calls, 0 < p < 1.
  // By default the mean; "envoy_gradient" wants the median, "aimd" the 90th, and have them.
  std::optional<double> percentile;
  // A larger share of dropped calls than this counts as overload, [0, 1).
  double drop_tolerance = 0.05;

  // Permit::deadline() of every call, > 0; by default there is none.
  std::chrono::nanoseconds call_deadline = std::chrono::nanoseconds::max();

  // Classes, queue, tenants. permit_age_max must be zero: no thread would look.
  BulkheadOptions bulkhead;
};

// Lists every violation as name, value and rule. OK if there is none.
absl::Status Validate(const LocalBulkheadOptions& options);

// A bulkhead whose limit is this process's own business: fixed, or found by an algorithm from what
// its own calls see. It needs no controller, knows of no quota, and needs no thread: a call that
// ends when a window is due runs the algorithm, for some microseconds, in its own thread. So the
// limit does not move while no calls end. (Callers that wait share one timer thread per process.)
//
// The sum over many processes is not bounded by anything: what a fleet shares wants an Agent.
//
// Thread-safe. After fork() the child's copy admits nothing, since permits of the parent are
// counted in it; make another one there.
class LocalBulkhead {
 public:
  ~LocalBulkhead();  // permits may outlive it
  LocalBulkhead(const LocalBulkhead&) = delete;
  LocalBulkhead& operator=(const LocalBulkhead&) = delete;

  // Lives as long as this object. stage() is always kLease.
  Bulkhead& bulkhead();

  // By hand: the limit is this from now on, 0 to 1,000,000, whatever floor, ceiling and algorithm
  // say; 0 admits nothing. A rise wakes those who wait. After a fall, calls that run are left alone
  // and none is admitted until enough have ended. Returns kInvalidArgument outside of the range,
  // kFailedPrecondition in a forked child. May wait for another thread that changes the limit now.
  absl::Status SetLimit(int limit);
  // Takes SetLimit() back: the algorithm goes on from where it was; it learnt nothing meanwhile.
  // Returns kFailedPrecondition in a forked child.
  absl::Status ClearLimit();

  // What metrics show of it: see VisitMetrics().
  BulkheadSnapshot Snapshot() const;

 private:
  friend class LocalBulkheadFactory;
  class Impl;
  explicit LocalBulkhead(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Returns kInvalidArgument if Validate(options) finds faults.
absl::StatusOr<std::unique_ptr<LocalBulkhead>> MakeLocalBulkhead(
    const LocalBulkheadOptions& options);

}  // namespace plimsoll
