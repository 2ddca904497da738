#include "controller/src/durable_bounds.h"

#include <algorithm>
#include <utility>

#include "plimsoll/core/check.h"

namespace plimsoll::internal {

namespace {

BoundValue LowestOf(BoundValue a, const BoundValue& b) {
  a.steps = plimsoll::Lowest(a.steps, b.steps);
  a.lease = std::min(a.lease, b.lease);
  a.base_lease = std::min(a.base_lease, b.base_lease);
  a.call_deadline = std::min(a.call_deadline, b.call_deadline);
  return a;
}

bool IsUnder(const BoundValue& a, const BoundValue& b) {
  return FitsUnder(a.steps, b.steps) && a.lease <= b.lease && a.base_lease <= b.base_lease &&
         a.call_deadline <= b.call_deadline;
}

}  // namespace

DurableBounds::DurableBounds(const std::vector<Bound>& found, std::size_t raises_max)
    : raises_max_(raises_max) {
  for (const Bound& bound : found) {
    places_[bound.key].durable =
        BoundValue{bound.steps, bound.lease, bound.base_lease, bound.call_deadline};
  }
}

void DurableBounds::Touch(const BoundKeyRef& key, Instant now) {
  const auto found = places_.find(key);
  Touch(found != places_.end() ? *found
                               : *places_.try_emplace(BoundKey{key.dependency, key.session}).first,
        now);
}

void DurableBounds::Touch(Place& place, Instant now) {
  if (!touched_at_.has_value()) touched_at_ = now;
  if (std::exchange(place.second.touched, true)) return;
  touched_.push_back(&place);
}

bool DurableBounds::Covers(const BoundKeyRef& key, const BoundValue& value) const {
  const Wanted lowest = Lowest(key);
  return lowest.has_value() ? IsUnder(value, *lowest) : value.steps == Steps{};
}

DurableBounds::Wanted DurableBounds::Lowest(const BoundKeyRef& key) const {
  const auto found = places_.find(key);
  if (found == places_.end()) return std::nullopt;
  const State& state = found->second;
  if (!state.durable.has_value() || !state.pending.has_value()) return state.durable;
  if (!state.pending->has_value()) return std::nullopt;
  return LowestOf(*state.durable, **state.pending);
}

// A raise is above what a successor is sure to find, and in no component below.
bool DurableBounds::Waits(Place& place, const Wanted& wanted) {
  State& state = place.second;
  const bool raises = wanted.has_value() && !state.uncertain &&
                      (!state.durable.has_value() || IsUnder(*state.durable, *wanted));
  if (!raises) {
    WaitNoLonger(place);
    return false;
  }
  if (!std::exchange(state.rising, true)) {
    rising_[place.first.session].push_back(&place);
    rising_order_.Insert(place.first.session);
  }
  return true;
}

void DurableBounds::WaitNoLonger(Place& place) {
  if (!std::exchange(place.second.rising, false)) return;
  const auto found = rising_.find(place.first.session);
  std::erase(found->second, &place);
  if (!found->second.empty()) return;
  rising_.erase(found);
  rising_order_.Erase(place.first.session);
}

std::vector<DurableBounds::Place*> DurableBounds::TakeRaises(const SessionId& session) {
  const auto found = rising_.find(session);
  if (found == rising_.end()) return {};
  std::vector<Place*> raises = std::move(found->second);
  rising_.erase(found);
  rising_order_.Erase(session);
  for (Place* const place : raises) place->second.rising = false;
  return raises;
}

bool DurableBounds::Add(WriteBatch& batch, Place& place, const Wanted& wanted) {
  PLIMSOLL_CHECK(!writing_, "one write is under way at most");
  State& state = place.second;
  if (!state.uncertain && state.durable == wanted) {
    DropIfEmpty(place);
    return false;
  }
  if (!wanted.has_value()) batch.erase.push_back(place.first);
  state.pending = wanted;
  pending_.push_back(&place);
  return wanted.has_value();
}

void DurableBounds::Finish(bool ok, Instant now) {
  PLIMSOLL_CHECK(writing_, "no write is under way");
  writing_ = false;
  for (Place* const place : std::exchange(pending_, {})) {
    const Wanted written = *std::exchange(place->second.pending, std::nullopt);
    if (ok) {
      Settle(place->second, written);
      DropIfEmpty(*place);
    } else {
      Doubt(*place, written, now);
    }
  }
}

void DurableBounds::Settle(State& state, const Wanted& written) {
  state.durable = written;
  state.uncertain = false;
}

void DurableBounds::Doubt(Place& place, const Wanted& written, Instant now) {
  State& state = place.second;
  state.uncertain = true;
  Touch(place, now);
  if (!state.durable.has_value()) return;
  if (written.has_value()) {
    state.durable = LowestOf(*state.durable, *written);
  } else {
    state.durable->steps = Steps{};
  }
}

void DurableBounds::DropIfEmpty(const Place& place) {
  const State& state = place.second;
  const bool kept = state.durable.has_value() || state.pending.has_value() || state.uncertain ||
                    state.touched || state.rising;
  if (!kept) places_.erase(places_.find(place.first));
}

}  // namespace plimsoll::internal
