#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/examples/demonstrations/overload_server.h"
#include "plimsoll/agent/local_bulkhead.h"
#include "plimsoll/core/histogram.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/core/time.h"

namespace plimsoll::demonstrations {

// What callers accept. An answer that comes later is worth nothing to them.
inline constexpr absl::Duration kTarget = absl::Milliseconds(200);

// A second of the run, or several.
struct OverloadSpan {
  std::int64_t offered = 0;  // arrived in it
  std::int64_t refused = 0;  // of them
  std::int64_t answered = 0;
  std::int64_t in_time = 0;  // of the answered: within kTarget
  int limit = 0;             // at its end; 0: none
  LatencyHistogram latency;  // of the answered, from their scheduled arrival

  absl::Duration p99() const { return latency.Quantile(0.99); }
  void Merge(const OverloadSpan& later);
};

// One way to call the service. Thread-safe.
class OverloadLane {
 public:
  // Seconds are counted from `begin`. `bulkhead` may be null: everything is sent.
  OverloadLane(std::size_t seconds, Instant begin, std::uint64_t seed,
               std::unique_ptr<LocalBulkhead> bulkhead);

  // The call that was due at `scheduled`. Never waits.
  void Offer(Instant scheduled);

  std::vector<OverloadSpan> timeline() const;

 private:
  void Ended(Job job);
  OverloadSpan* SpanOf(Instant at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Instant begin_;
  const std::unique_ptr<LocalBulkhead> bulkhead_;

  mutable Mutex mutex_;
  std::vector<OverloadSpan> timeline_ ABSL_GUARDED_BY(mutex_);

  QueueServer server_;  // last: its thread uses all of the above
};

}  // namespace plimsoll::demonstrations
