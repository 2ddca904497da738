#pragma once

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "plimsoll/core/clock.h"

namespace plimsoll {

// Moves only when told to. Thread-safe.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Instant start = Instant{1'000'000'000}) : now_ns_(start.ns) {}

  Instant Now() const override { return {now_ns_.load()}; }
  absl::Time WallTime() const override {
    return absl::UnixEpoch() + absl::Nanoseconds(now_ns_.load() + uncounted_ns_.load());
  }

  void Refresh() const override { ++refreshed_; }
  // How often it was.
  std::int64_t refreshed() const { return refreshed_; }

  void Advance(absl::Duration by) { now_ns_ += absl::ToInt64Nanoseconds(by); }
  // Time that only the calendar counts, as in a virtual machine that was paused.
  void LoseTime(absl::Duration by) { uncounted_ns_ += absl::ToInt64Nanoseconds(by); }

 private:
  std::atomic<std::int64_t> now_ns_;
  std::atomic<std::int64_t> uncounted_ns_{0};
  mutable std::atomic<std::int64_t> refreshed_{0};
};

}  // namespace plimsoll
