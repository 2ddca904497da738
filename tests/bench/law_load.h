#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "plimsoll/core/histogram.h"

namespace plimsoll::bench {

// What all replicas together saw in one phase.
struct PhaseFigures {
  double seconds = 0;
  std::int64_t arrived = 0;
  std::int64_t rejected = 0;
  std::int64_t good = 0;     // answered within the deadline of the callers
  std::int64_t late = 0;     // answered later
  std::int64_t failed = 0;   // not answered: something is broken
  LatencyHistogram latency;  // of answered calls, from their scheduled arrival
  double mean_limit = 0;     // sum over the replicas, mean over the phase
  int in_flight_max = 0;     // as the provider counted
};

struct LoadOptions {
  int replicas = 6;
  int controller_port = 0;
  int provider_port = 0;
  absl::Duration deadline;  // of the callers, from the scheduled arrival
  std::uint64_t seed = 1;
};

// Replicas, each with an agent and a bulkhead of its own, that call a WorkerPoolProvider. Calls
// arrive at random, whether or not earlier ones were answered. All of it in the thread that runs a
// phase. A late call is reported as dropped, and holds its permit until it is answered, so that
// what is in flight at the provider holds a permit. Confined to one thread.
class LawLoad {
 public:
  explicit LawLoad(const LoadOptions& options);
  ~LawLoad();

  LawLoad(const LawLoad&) = delete;
  LawLoad& operator=(const LawLoad&) = delete;

  // Starts the agents and waits for their first limits.
  absl::Status Start();
  // Sets the provider's workers, and offers `calls_per_second` for that long.
  absl::Status RunPhase(int workers, double calls_per_second, absl::Duration length,
                        PhaseFigures& figures);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plimsoll::bench
