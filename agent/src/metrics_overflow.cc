#include "agent/src/metrics_overflow.h"

#include <algorithm>

#include "plimsoll/core/add_each.h"

namespace plimsoll::internal {
namespace {

void Add(const DurationCounts& from, DurationCounts& into) {
  AddEach(from.counts, into.counts);
  into.sum_seconds += from.sum_seconds;
}

void Add(const BulkheadStats& from, BulkheadStats& into) {
  into.limit += from.limit;
  into.in_flight += from.in_flight;
  into.in_flight_max += from.in_flight_max;
  into.admitted += from.admitted;
  into.succeeded += from.succeeded;
  into.dropped += from.dropped;
  into.ignored += from.ignored;
  into.leaked += from.leaked;
  into.waiting += from.waiting;
  into.oldest_wait = std::max(into.oldest_wait, from.oldest_wait);
  AddEach(from.refused, into.refused);
  AddEach(from.outcomes, into.outcomes);
  AddEach(from.would_refuse, into.would_refuse);
}

void Add(const std::vector<LimitChanges>& from, std::vector<LimitChanges>& into) {
  for (const LimitChanges& change : from) {
    const auto same = std::find_if(into.begin(), into.end(), [&](const LimitChanges& other) {
      return other.direction == change.direction && other.reason == change.reason;
    });
    if (same == into.end()) {
      into.push_back(change);
    } else {
      same->count += change.count;
    }
  }
}

void Add(const BulkheadSnapshot& from, BulkheadSnapshot& into) {
  Add(from.stats, into.stats);
  Add(from.duration, into.duration);
  if (from.queue_wait.has_value()) {
    if (!into.queue_wait.has_value()) into.queue_wait.emplace();
    Add(*from.queue_wait, *into.queue_wait);
  }
  Add(from.changes, into.changes);
  if (from.retries_denied.has_value()) {
    into.retries_denied = into.retries_denied.value_or(0) + *from.retries_denied;
  }
}

}  // namespace

BulkheadSnapshot Fold(const std::vector<const BulkheadSnapshot*>& bulkheads) {
  BulkheadSnapshot sum;
  sum.dependency = kOverflowDependency;
  for (const BulkheadSnapshot* const bulkhead : bulkheads) Add(*bulkhead, sum);
  return sum;
}

}  // namespace plimsoll::internal
