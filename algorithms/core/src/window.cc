#include "plimsoll/core/window.h"

#include <algorithm>

namespace plimsoll {

absl::Duration Window::MeanLatency() const {
  const std::int64_t ended = completed() + ignored;
  return ended == 0 ? absl::ZeroDuration() : in_flight / ended;
}

void Window::MergeParallel(const Window& other) {
  length = std::max(length, other.length);
  admitted += other.admitted;
  succeeded += other.succeeded;
  dropped += other.dropped;
  ignored += other.ignored;
  for (std::size_t i = 0; i < rejected.size(); ++i) rejected[i] += other.rejected[i];
  const std::int64_t in_flight_sum = std::int64_t{in_flight_max} + other.in_flight_max;
  in_flight_max = static_cast<Calls>(std::min<std::int64_t>(in_flight_sum, kCallsMax));
  in_flight += other.in_flight;
  at_limit += other.at_limit;
  latency.Merge(other.latency);
}

}  // namespace plimsoll
