#include "agent/src/window_cutter.h"

#include <algorithm>
#include <limits>

#include "plimsoll/core/check.h"

namespace plimsoll::internal {

Window WindowCutter::Cut(const WindowSources& sources, const GrantStamp& stamp, Calls peak,
                         Instant at) {
  PLIMSOLL_CHECK(at > opened_, "a window lasts longer than nothing");
  Window window;
  window.stamp = stamp;
  window.length = at - opened_;
  window.in_flight_max = peak;
  opened_ = at;
  CutEndings(sources.counters, window);
  CutRejections(sources.rejected, window);
  // After the endings: a call that ends in between is then missing for now, not counted twice.
  CutInFlight(sources, at, window);
  const absl::Duration at_limit =
      absl::Nanoseconds(at_limit_growth_.Advance(sources.at_limit.TotalNs(at)));
  window.at_limit = std::min(at_limit, window.length);
  return window;
}

void WindowCutter::CutEndings(const CallCounters& counters, Window& window) {
  for (std::size_t bucket = 0; bucket < LatencyHistogram::kBuckets; ++bucket) {
    const std::uint64_t succeeded = counters.succeeded(bucket);
    const std::uint64_t dropped = counters.dropped(bucket);
    const std::uint64_t successes = succeeded - succeeded_[bucket];
    const std::uint64_t drops = dropped - dropped_[bucket];
    succeeded_[bucket] = succeeded;
    dropped_[bucket] = dropped;
    window.succeeded += static_cast<std::int64_t>(successes);
    window.dropped += static_cast<std::int64_t>(drops);
    constexpr std::uint64_t kCountMax = std::numeric_limits<std::uint32_t>::max();
    window.latency.Add(bucket, static_cast<std::uint32_t>(std::min(successes + drops, kCountMax)));
  }
  const std::int64_t ignored = counters.ignored();
  window.ignored = ignored - ignored_;
  ignored_ = ignored;
  ended_ += window.completed() + window.ignored;
}

void WindowCutter::CutRejections(const RejectCounters& rejected, Window& window) {
  for (std::size_t reason = 0; reason < kRejectReasons; ++reason) {
    const std::int64_t count = rejected[reason];
    window.rejected[reason] = count - rejected_[reason];
    rejected_[reason] = count;
  }
}

void WindowCutter::CutInFlight(const WindowSources& sources, Instant at, Window& window) {
  window.admitted = admitted_growth_.Advance(ended_ + sources.in_flight.Read().calls);
  const std::uint64_t integral = sources.time_in_flight.IntegralAt(at);
  integral_units_ += TimeInFlight::Difference(integral, integral_last_);
  integral_last_ = integral;
  window.in_flight = FromUnits(integral_growth_.Advance(integral_units_));
}

}  // namespace plimsoll::internal
