#include "controller/src/durable_bounds.h"

#include <algorithm>
#include <utility>

#include "plimsoll/core/check.h"

namespace plimsoll::internal {

namespace {

Bound LowestOf(Bound a, const Bound& b) {
  a.steps = Lowest(a.steps, b.steps);
  a.lease = std::min(a.lease, b.lease);
  a.base_lease = std::min(a.base_lease, b.base_lease);
  a.call_deadline = std::min(a.call_deadline, b.call_deadline);
  return a;
}

bool IsUnder(const Bound& a, const Bound& b) {
  return FitsUnder(a.steps, b.steps) && a.lease <= b.lease && a.base_lease <= b.base_lease &&
         a.call_deadline <= b.call_deadline;
}

}  // namespace

DurableBounds::DurableBounds(const std::vector<Bound>& found, std::size_t raises_max)
    : raises_max_(raises_max) {
  for (const Bound& bound : found) durable_[bound.key] = bound;
}

void DurableBounds::Touch(const BoundKey& key, Instant now) {
  touched_.insert(key);
  if (!touched_at_.has_value()) touched_at_ = now;
}

bool DurableBounds::Covers(const Bound& bound) const {
  const auto durable = durable_.find(bound.key);
  if (durable == durable_.end()) return bound.steps == Steps{};
  const auto pending = pending_.find(bound.key);
  if (pending == pending_.end()) return IsUnder(bound, durable->second);
  if (!pending->second.has_value()) return bound.steps == Steps{};
  // What is under both is under the lowest of them.
  return IsUnder(bound, durable->second) && IsUnder(bound, *pending->second);
}

std::optional<Bound> DurableBounds::LowestBound(const BoundKey& key) const {
  const auto durable = durable_.find(key);
  if (durable == durable_.end()) return std::nullopt;
  const auto pending = pending_.find(key);
  if (pending == pending_.end()) return durable->second;
  if (!pending->second.has_value()) return std::nullopt;
  return LowestOf(durable->second, *pending->second);
}

bool DurableBounds::IsRaise(const BoundKey& key, const Wanted& wanted) const {
  if (!wanted.has_value() || uncertain_.contains(key)) return false;
  const auto durable = durable_.find(key);
  return durable == durable_.end() || IsUnder(durable->second, *wanted);
}

void DurableBounds::Sort(WriteBatch& batch, const BoundKey& key, const Wanted& wanted) {
  if (IsRaise(key, wanted)) {
    rising_.emplace(key.session, key.dependency);
  } else {
    rising_.erase({key.session, key.dependency});
    Add(batch, key, wanted);
  }
}

void DurableBounds::Add(WriteBatch& batch, const BoundKey& key, const Wanted& wanted) {
  PLIMSOLL_CHECK(!writing_, "one write is under way at most");
  const auto durable = durable_.find(key);
  const bool certain = !uncertain_.contains(key);
  if (!wanted.has_value()) {
    if (durable == durable_.end() && certain) return;
    batch.erase.push_back(key);
  } else {
    if (certain && durable != durable_.end() && durable->second == *wanted) return;
    batch.put.push_back(*wanted);
  }
  pending_[key] = wanted;
}

void DurableBounds::Finish(bool ok, Instant now) {
  PLIMSOLL_CHECK(writing_, "no write is under way");
  writing_ = false;
  for (auto& [key, wanted] : std::exchange(pending_, {})) {
    if (ok) {
      uncertain_.erase(key);
      if (wanted.has_value()) {
        durable_[key] = *wanted;
      } else {
        durable_.erase(key);
      }
      continue;
    }
    uncertain_.insert(key);
    Touch(key, now);
    const auto held = durable_.find(key);
    if (held == durable_.end()) continue;
    if (wanted.has_value()) {
      held->second = LowestOf(held->second, *wanted);
    } else {
      held->second.steps = Steps{};
    }
  }
}

}  // namespace plimsoll::internal
