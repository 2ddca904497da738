#include "plimsoll/core/clock.h"

#include <time.h>

#include <atomic>
#include <cstdint>

#include "absl/time/clock.h"

namespace plimsoll {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
// Two reads of CLOCK_MONOTONIC further apart than this do not bracket a usable read of BOOTTIME.
constexpr std::int64_t kBracketNsMax = 100'000;

std::int64_t ReadNs(clockid_t id) {
  timespec value{};
  clock_gettime(id, &value);
  return value.tv_sec * kNsPerSecond + value.tv_nsec;
}

class SystemClock final : public Clock {
 public:
  SystemClock() { Refresh(); }

  Instant Now() const override {
    return {ReadNs(CLOCK_MONOTONIC_RAW) + suspended_ns_.load(std::memory_order_relaxed)};
  }

  absl::Time WallTime() const override { return absl::Now(); }

  void Refresh() const override {
    for (;;) {
      const std::int64_t before = ReadNs(CLOCK_MONOTONIC);
      const std::int64_t boot = ReadNs(CLOCK_BOOTTIME);
      const std::int64_t after = ReadNs(CLOCK_MONOTONIC);
      if (after - before > kBracketNsMax) continue;
      Raise(boot - after);
      return;
    }
  }

 private:
  // Only upwards: Now() never goes back, whichever thread refreshes last.
  void Raise(std::int64_t ns) const {
    std::int64_t seen = suspended_ns_.load(std::memory_order_relaxed);
    while (ns > seen && !suspended_ns_.compare_exchange_weak(seen, ns)) {
    }
  }

  mutable std::atomic<std::int64_t> suspended_ns_{0};
};

}  // namespace

const Clock& RealClock() {
  static const auto* const clock = new SystemClock;
  return *clock;
}

}  // namespace plimsoll
