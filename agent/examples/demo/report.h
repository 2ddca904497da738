#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plimsoll/core/histogram.h"
#include "plimsoll/core/mutex.h"

namespace plimsoll::demo {

// What one replica did since its last report, and where it stands. Thread-compatible.
struct Report {
  std::int64_t sent = 0;  // admitted, and so handed to the HTTP client
  std::int64_t succeeded = 0;
  std::int64_t errors = 0;    // failed or timed out at the provider
  std::int64_t rejected = 0;  // refused before they were sent
  int limit = 0;              // in force now
  int in_flight = 0;
  // When a lease was last granted, on the clock of this machine; 0: never, or there is no
  // controller. How often a limit has stepped down since the process started.
  std::int64_t granted_ns = 0;
  std::int64_t written_ns = 0;  // this report, on the same clock
  std::int64_t stepped_down = 0;
  LatencyHistogram latency;  // of admitted calls, from their scheduled arrival to their end
  // How long it took to say no. The histogram starts at 0.5 us, which is longer than that takes, so
  // a nanosecond is recorded as a microsecond.
  LatencyHistogram refusal;

  void RecordRefusal(absl::Duration time) { refusal.Record(time * 1000); }
  absl::Duration RefusalQuantile(double quantile) const {
    return refusal.Quantile(quantile) / 1000;
  }
  // Adds the counts of `other`, and takes over where it stands.
  void Merge(const Report& other);

  friend bool operator==(const Report&, const Report&) = default;
};

// One line of text without its end: "sent=3 … latency=280:2,291:1 refusal=".
std::string ToLine(const Report& report);
absl::StatusOr<Report> ReportFromLine(const std::string& line);

// Collects what the threads of a replica do. Thread-safe.
class Tally {
 public:
  void Sent();
  void Ended(bool succeeded, absl::Duration latency);
  void Rejected(absl::Duration time_to_refuse);
  // The counts since the last call.
  Report Take();

 private:
  Mutex mutex_;
  Report report_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace plimsoll::demo
