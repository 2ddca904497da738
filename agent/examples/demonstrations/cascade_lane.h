#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/examples/demonstrations/cascade_caller.h"
#include "plimsoll/core/time.h"

namespace plimsoll::demonstrations {

// Both lanes have as many threads in all.
inline constexpr int kThreads = 20;
// Not counted: as long as it takes until callers give up, the queue only fills.
inline constexpr absl::Duration kWarmUp = kPatience;

struct CascadeLane {
  std::string name;
  CallTally a;
  CallTally b;
  std::int64_t breaker_openings = 0;  // of B, failed probes among them, warm-up included
};

struct CascadeRun {
  Instant begin;
  absl::Duration length;
  std::uint64_t seed = 1;
};

// One pool for both dependencies, with a queue that is as good as endless, as executors have by
// default. kResourceExhausted if the system has not enough threads.
absl::StatusOr<CascadeLane> RunSharedPool(const CascadeRun& run);
// A pool with a short queue for each, and a breaker for B.
absl::StatusOr<CascadeLane> RunSplitPools(const CascadeRun& run);

}  // namespace plimsoll::demonstrations
