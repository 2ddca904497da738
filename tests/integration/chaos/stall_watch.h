#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "absl/time/time.h"

namespace plimsoll::chaos {

// Notices when this machine, or the whole process, stands still or is short of processors: then
// calls outlive their deadlines and replicas stay silent, and nobody in the fleet is to blame.
class StallWatch {
 public:
  StallWatch();
  ~StallWatch();

  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;

  // The longest delay beyond a sleep of 10 ms since the last call of this method. Thread-safe.
  absl::Duration TakeLongest() { return absl::Nanoseconds(longest_ns_.exchange(0)); }

 private:
  void Watch();

  std::atomic<std::int64_t> longest_ns_{0};
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

}  // namespace plimsoll::chaos
