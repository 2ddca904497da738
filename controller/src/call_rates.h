#pragma once

#include <deque>

#include "absl/time/time.h"
#include "plimsoll/controller/snapshot.h"
#include "plimsoll/core/histogram.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// What has happened of late, from counts that only grow: the calls of all instances together,
// whatever their scope, and whatever they were refused for. Thread-compatible.
class CallRates {
 public:
  // Rates are over this long, or since the first note; reports come about once a second each.
  static constexpr absl::Duration kSpan = absl::Seconds(5);

  struct Recent {
    double admitted_per_second = 0;
    double rejected_per_second = 0;
    LatencyHistogram latency;  // of the calls that ended
  };

  // To be called often; keeps a note a second. `now` must not go back.
  void Note(Instant now, const CallTotals& totals, const LatencyCounts& latencies);
  // All zero until a second has passed since the first note.
  Recent Until(Instant now, const CallTotals& totals, const LatencyCounts& latencies) const;

 private:
  struct Sample {
    Instant at;
    CallTotals totals;
    LatencyCounts latencies;
  };

  std::deque<Sample> samples_;  // the first is the newest that is kSpan old, if there is one
};

}  // namespace plimsoll::internal
