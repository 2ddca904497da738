#include "controller/src/call_rates.h"

#include <cstddef>

namespace plimsoll::internal {
namespace {

constexpr absl::Duration kStep = absl::Seconds(1);

}  // namespace

void CallRates::Note(Instant now, const CallTotals& totals, const LatencyCounts& latencies) {
  if (!samples_.empty() && now - samples_.back().at < kStep) return;
  samples_.push_back({now, totals, latencies});
  while (samples_.size() > 1 && now - samples_[1].at >= kSpan) samples_.pop_front();
}

CallRates::Recent CallRates::Until(Instant now, const CallTotals& totals,
                                   const LatencyCounts& latencies) const {
  Recent recent;
  if (samples_.empty() || now - samples_.front().at < kStep) return recent;
  const Sample& from = samples_.front();
  const double seconds = absl::ToDoubleSeconds(now - from.at);
  recent.admitted_per_second =
      static_cast<double>(totals.admitted - from.totals.admitted) / seconds;
  recent.rejected_per_second =
      static_cast<double>(totals.rejected - from.totals.rejected) / seconds;
  for (std::size_t i = 0; i < latencies.size(); ++i) {
    recent.latency.Add(i, latencies[i] - from.latencies[i]);
  }
  return recent;
}

}  // namespace plimsoll::internal
