#include "agent/src/snapshot.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "plimsoll/core/grant.h"
#include "plimsoll/core/histogram.h"
#include "plimsoll/core/reason.h"

namespace plimsoll::internal {
namespace {

using Direction = LimitJournal::Direction;

// The words of a closed list in lower case, of static storage.
template <typename Enum, std::size_t N>
std::string_view LabelOf(Enum value) {
  static const auto& labels = *[] {
    auto* const words = new std::array<std::string, N>();
    for (std::size_t i = 0; i < N; ++i) {
      (*words)[i] = absl::AsciiStrToLower(std::string(ToString(static_cast<Enum>(i))));
    }
    return words;
  }();
  return labels[static_cast<std::size_t>(value)];
}
std::string_view LabelOf(Reason reason) { return LabelOf<Reason, kReasons>(reason); }
std::string_view LabelOf(BindingConstraint constraint) {
  return LabelOf<BindingConstraint, kBindingConstraints>(constraint);
}

// Which way a limit moves for a reason. Others are told once they have occurred: the share of a
// quota may move against the algorithm that gave the reason.
bool CanBe(Direction direction, Reason reason) {
  switch (reason) {
    case Reason::kLatencyRose:
    case Reason::kThroughputFlat:
    case Reason::kErrors:
    case Reason::kTimeouts:
    case Reason::kUnderused:
    case Reason::kFloor:
    case Reason::kFallbackEntered:
      return direction == Direction::kDown;
    case Reason::kLatencyFell:
    case Reason::kThroughputGrew:
    case Reason::kCeiling:
    case Reason::kFallbackLeft:
    case Reason::kInitial:
      return direction == Direction::kUp;
    case Reason::kProbe:
    case Reason::kQuotaRebalanced:
    case Reason::kQuotaChanged:
    case Reason::kOverrideSet:
    case Reason::kOverrideCleared:
    case Reason::kConfigReloaded:
    case Reason::kReset:
      return true;
  }
  return true;
}

std::vector<LimitChanges> ChangesOf(const LimitJournal& journal) {
  std::vector<LimitChanges> changes;
  for (const Direction direction : {Direction::kUp, Direction::kDown}) {
    for (std::size_t i = 0; i < kReasons; ++i) {
      const auto reason = static_cast<Reason>(i);
      const std::int64_t count = journal.changes(direction, reason);
      if (count == 0 && !CanBe(direction, reason)) continue;
      changes.push_back({direction == Direction::kUp ? "up" : "down", LabelOf(reason), count});
    }
  }
  return changes;
}

// A bucket of the bulkhead counts as its middle.
DurationCounts CountsOf(const std::vector<LatencyBucket>& latency) {
  DurationCounts counts;
  for (const LatencyBucket& bucket : latency) {
    const std::size_t index = LatencyHistogram::BucketOf(bucket.below.count() - 1);
    const double seconds = absl::ToDoubleSeconds(LatencyHistogram::MiddleOf(index));
    const auto end =
        std::lower_bound(DurationCounts::kEnds.begin(), DurationCounts::kEnds.end(), seconds);
    const auto at = static_cast<std::size_t>(end - DurationCounts::kEnds.begin());
    counts.counts[at] += static_cast<std::uint64_t>(bucket.count);
    counts.sum_seconds += seconds * static_cast<double>(bucket.count);
  }
  return counts;
}

void ReadNewestGrant(const Limiter& limiter, BulkheadSnapshot& snapshot) {
  const std::optional<Explanation> newest = limiter.journal().Newest();
  const bool in_lease = snapshot.stats.stage == GrantStage::kLease;
  snapshot.binding =
      LabelOf(newest.has_value() && in_lease ? newest->binding : BindingConstraint::kFallback);
  if (!newest.has_value()) return;
  snapshot.limits =
      LimitFacts{newest->algorithm_limit, newest->quota_share, newest->floor, newest->ceiling};
  const absl::Duration age = limiter.clock().Now() - limiter.journal().confirmed();
  snapshot.limit_age = absl::ToChronoNanoseconds(std::max(age, absl::ZeroDuration()));
}

}  // namespace

BulkheadSnapshot TakeSnapshot(const std::string& dependency, const Limiter& limiter) {
  BulkheadSnapshot snapshot;
  snapshot.dependency = dependency;
  snapshot.stats = limiter.Stats();
  snapshot.duration = CountsOf(snapshot.stats.latency);
  if (limiter.queue() != nullptr) snapshot.queue_wait = CountsOf(snapshot.stats.wait);
  snapshot.changes = ChangesOf(limiter.journal());
  ReadNewestGrant(limiter, snapshot);
  return snapshot;
}

void MakeLocal(BulkheadSnapshot& snapshot) {
  snapshot.local = true;
  snapshot.limit_age.reset();
  if (snapshot.limits.has_value()) snapshot.limits->quota_share.reset();
}

}  // namespace plimsoll::internal
