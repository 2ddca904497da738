#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "plimsoll/agent/outcome.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/core/random.h"
#include "plimsoll/core/time.h"

namespace plimsoll::demonstrations {

// What a dependency does with calls.
struct DependencyModel {
  double capacity = 1e6;  // answers per second; what comes beyond is never answered
  double failures = 0;    // share of the answers that are errors
  absl::Duration fastest = absl::Milliseconds(2);
  absl::Duration slowest = absl::Milliseconds(5);
};

// A model of a remote service and of a client that blocks: a call costs its thread as long as the
// answer takes, or the whole time-out if there is none. Thread-safe.
class Dependency {
 public:
  Dependency(const DependencyModel& model, std::uint64_t seed);

  // kSuccess, kError, or kTimeout after `timeout`.
  Outcome Call(absl::Duration timeout);

 private:
  struct Fate {
    Outcome outcome;
    absl::Duration after;
  };
  Fate Decide(absl::Duration timeout);
  bool TakeToken() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const DependencyModel model_;
  Mutex mutex_;
  Random random_ ABSL_GUARDED_BY(mutex_);
  double tokens_ ABSL_GUARDED_BY(mutex_);
  Instant filled_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace plimsoll::demonstrations
