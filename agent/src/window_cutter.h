#pragma once

#include <array>
#include <cstdint>

#include "agent/src/call_counters.h"
#include "agent/src/in_flight.h"
#include "agent/src/time_in_flight.h"
#include "plimsoll/core/grant.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"
#include "plimsoll/core/window.h"

namespace plimsoll::internal {

// The growth of a count that was read while it changed. A reading may be a few too high, because a
// call is both in flight and ended for an instant, or about to be refused; what was reported too
// much is then left out of the next differences. Thread-compatible.
class Growth {
 public:
  // At least 0. The sum of all results is the highest value so far.
  std::int64_t Advance(std::int64_t value) {
    if (value <= highest_) return 0;
    const std::int64_t grown = value - highest_;
    highest_ = value;
    return grown;
  }

 private:
  std::int64_t highest_ = 0;
};

// What a window is cut from.
struct WindowSources {
  const CallCounters& counters;
  const InFlight& in_flight;
  const TimeInFlight& time_in_flight;
  const RejectCounters& rejected;
  const TimeAtLimit& at_limit;
};

// Makes windows: differences of counters that only grow. Confined to the agent's thread.
class WindowCutter {
 public:
  explicit WindowCutter(Instant opened) : opened_(opened) {}

  Instant opened() const { return opened_; }
  // What happened since the last cut, under one grant. `peak` is the most calls in flight since
  // then. The next window opens at `at`. Requires at > opened().
  Window Cut(const WindowSources& sources, const GrantStamp& stamp, Calls peak, Instant at);

 private:
  void CutEndings(const CallCounters& counters, Window& window);
  void CutRejections(const RejectCounters& rejected, Window& window);
  void CutInFlight(const WindowSources& sources, Instant at, Window& window);

  Instant opened_;
  std::int64_t ended_ = 0;
  std::int64_t ignored_ = 0;
  std::array<std::uint64_t, LatencyHistogram::kBuckets> succeeded_{};
  std::array<std::uint64_t, LatencyHistogram::kBuckets> dropped_{};
  std::array<std::int64_t, kRejectReasons> rejected_{};
  std::uint64_t integral_last_ = 0;  // as read, modulo 2^42
  std::int64_t integral_units_ = 0;  // without the modulus
  Growth admitted_growth_;
  Growth integral_growth_;
  Growth at_limit_growth_;
};

}  // namespace plimsoll::internal
