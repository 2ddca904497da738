#include "controller/src/durable_bounds.h"

#include <utility>

#include "plimsoll/core/check.h"

namespace plimsoll::internal {

DurableBounds::DurableBounds(const std::vector<Bound>& found) {
  for (const Bound& bound : found) durable_[bound.key] = bound;
}

void DurableBounds::Touch(const BoundKey& key, Instant now) {
  touched_.insert(key);
  if (!touched_at_.has_value()) touched_at_ = now;
}

bool DurableBounds::Covers(const BoundKey& key, const Steps& steps) const {
  return FitsUnder(steps, Lowest(key));
}

Steps DurableBounds::Lowest(const BoundKey& key) const {
  const auto durable = durable_.find(key);
  const Steps held = durable == durable_.end() ? Steps{} : durable->second.steps;
  const auto pending = pending_.find(key);
  if (pending == pending_.end()) return held;
  return pending->second.has_value() ? plimsoll::Lowest(held, pending->second->steps) : Steps{};
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
    held->second.steps =
        wanted.has_value() ? plimsoll::Lowest(held->second.steps, wanted->steps) : Steps{};
  }
}

}  // namespace plimsoll::internal
