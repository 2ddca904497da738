#include "agent/examples/demonstrations/overload_lane.h"

#include <utility>

#include "plimsoll/core/clock.h"

namespace plimsoll::demonstrations {

void OverloadSpan::Merge(const OverloadSpan& later) {
  offered += later.offered;
  refused += later.refused;
  answered += later.answered;
  in_time += later.in_time;
  limit = later.limit;
  latency.Merge(later.latency);
}

OverloadLane::OverloadLane(std::size_t seconds, Instant begin, std::uint64_t seed,
                           std::unique_ptr<LocalBulkhead> bulkhead)
    : begin_(begin),
      bulkhead_(std::move(bulkhead)),
      timeline_(seconds),
      server_(ServerModel(), seed, [this](Job job) { Ended(std::move(job)); }) {}

void OverloadLane::Offer(Instant scheduled) {
  Job job{scheduled, std::nullopt};
  if (bulkhead_ != nullptr) {
    if (Admission admission = bulkhead_->bulkhead().TryAcquire()) {
      job.permit.emplace(*std::move(admission));
    }
  }
  const bool sent = bulkhead_ == nullptr || job.permit.has_value();
  {
    const MutexLock lock(mutex_);
    if (OverloadSpan* span = SpanOf(scheduled)) {
      ++span->offered;
      if (!sent) ++span->refused;
      if (bulkhead_ != nullptr) span->limit = bulkhead_->bulkhead().limit();
    }
  }
  if (sent) server_.Submit(std::move(job));
}

void OverloadLane::Ended(Job job) {
  if (job.permit) job.permit->Succeed();
  const Instant now = RealClock().Now();
  const absl::Duration latency = now - job.scheduled;
  const MutexLock lock(mutex_);
  OverloadSpan* span = SpanOf(now);
  if (span == nullptr) return;
  ++span->answered;
  if (latency <= kTarget) ++span->in_time;
  span->latency.Record(latency);
}

std::vector<OverloadSpan> OverloadLane::timeline() const {
  const MutexLock lock(mutex_);
  return timeline_;
}

// Null once the run is over.
OverloadSpan* OverloadLane::SpanOf(Instant at) {
  const auto second = static_cast<std::size_t>((at - begin_) / absl::Seconds(1));
  return second < timeline_.size() ? &timeline_[second] : nullptr;
}

}  // namespace plimsoll::demonstrations
