// What a limiter tells of itself.

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "agent/src/limiter.h"

namespace plimsoll {

std::int64_t ClassStats::offered() const {
  std::int64_t sum = admitted;
  for (const std::int64_t count : refused) sum += count;
  return sum;
}

namespace internal {
namespace {

// What is left of a count without a part of it. The two were read one after the other.
std::int64_t Without(std::int64_t count, std::int64_t part) {
  return std::max<std::int64_t>(0, count - part);
}

std::chrono::nanoseconds EndOf(std::size_t bucket) {
  if (bucket + 1 == LatencyHistogram::kBuckets) return std::chrono::nanoseconds::max();
  return absl::ToChronoNanoseconds(LatencyHistogram::EndOf(bucket));
}

}  // namespace

BulkheadStats Limiter::Stats() const {
  BulkheadStats stats;
  stats.limit = limit();
  stats.stage = stage();
  stats.stepped_down = in_force_.stepped_down.load(std::memory_order_relaxed);
  stats.observing = in_force_.observing.load(std::memory_order_relaxed);
  ReadEndings(stats);
  ReadRefusals(stats);
  stats.in_flight = in_flight();
  // Heights below that of the last second or so are not noted one by one; those of now are seen.
  stats.in_flight_max = std::max(counted_.in_flight_max.At(clock_.Now()), stats.in_flight);
  stats.admitted = stats.succeeded + stats.dropped + stats.ignored + stats.in_flight;
  stats.calls =
      Without(stats.admitted, counted_.units_beyond_first.load(std::memory_order_relaxed));
  ReadClasses(stats);
  ReadWaits(stats);
  return stats;
}

void Limiter::ReadEndings(BulkheadStats& stats) const {
  for (std::size_t bucket = 0; bucket < LatencyHistogram::kBuckets; ++bucket) {
    const auto succeeded = static_cast<std::int64_t>(counted_.counters.succeeded(bucket));
    const auto dropped = static_cast<std::int64_t>(counted_.counters.dropped(bucket));
    stats.succeeded += succeeded;
    stats.dropped += dropped;
    if (succeeded + dropped > 0) stats.latency.push_back({EndOf(bucket), succeeded + dropped});
  }
  stats.ignored = counted_.counters.ignored();
  stats.leaked = counted_.counters.leaked();
  stats.overran = counted_.counters.overran();
  stats.overdue = watch_ == nullptr ? 0 : watch_->reported();
  const auto of = [&stats](Outcome outcome) -> std::int64_t& {
    return stats.outcomes[static_cast<std::size_t>(outcome)];
  };
  of(Outcome::kError) = counted_.counters.errors();
  of(Outcome::kTimeout) = counted_.counters.timeouts();
  of(Outcome::kCancelled) = counted_.counters.cancelled();
  of(Outcome::kSuccess) = Without(stats.succeeded, of(Outcome::kError));
  of(Outcome::kOverload) = Without(stats.dropped, of(Outcome::kTimeout));
  of(Outcome::kIgnored) = Without(stats.ignored, of(Outcome::kCancelled));
}

void Limiter::ReadRefusals(BulkheadStats& stats) const {
  for (std::size_t reason = 0; reason < kRejectReasons; ++reason) {
    stats.would_refuse[reason] = counted_.would_reject[reason];
    stats.would_reject += stats.would_refuse[reason];
    stats.refused[reason] = Without(counted_.rejected[reason], stats.would_refuse[reason]);
  }
  stats.rejected_limit = stats.refused_by(Rejection::kLimit);
  stats.rejected_draining = stats.refused_by(Rejection::kDraining);
}

// What is not of the other classes is of the first, so that it need not be counted.
void Limiter::ReadClasses(BulkheadStats& stats) const {
  std::int64_t first = stats.admitted;
  for (std::size_t i = 0; i < options_.classes.size(); ++i) {
    ClassStats& one = stats.classes.emplace_back();
    one.name = options_.classes[i].name;
    one.admitted = counted_.admitted_by_class[i].load(std::memory_order_relaxed);
    first = Without(first, one.admitted);
    for (std::size_t reason = 0; reason < kRejectReasons; ++reason) {
      one.refused[reason] =
          Without(counted_.rejected.of(i, reason), counted_.would_reject.of(i, reason));
    }
  }
  stats.classes.front().admitted = first;
}

void Limiter::ReadWaits(BulkheadStats& stats) const {
  if (queue_ == nullptr) return;
  const QueueStats queue = queue_->stats();
  stats.waiting = queue.waiting;
  if (queue.oldest.has_value()) {
    stats.oldest_wait = absl::ToChronoNanoseconds(clock_.Now() - *queue.oldest);
  }
  stats.waiting_max = queue.waiting_max;
  stats.waited = queue.waited;
  stats.timed_out_waiting = queue.timed_out;
  for (std::size_t bucket = 0; bucket < queue.waits.size(); ++bucket) {
    if (queue.waits[bucket] > 0) stats.wait.push_back({EndOf(bucket), queue.waits[bucket]});
  }
}

}  // namespace internal
}  // namespace plimsoll
