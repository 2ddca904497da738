#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/time/time.h"
#include "controller/src/fifo_set.h"
#include "plimsoll/controller/store.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// A key without copies of its names, which must outlive it.
struct BoundKeyRef {
  BoundKeyRef(const DependencyId& of, const SessionId& whose) : dependency(of), session(whose) {}
  BoundKeyRef(const BoundKey& key) : BoundKeyRef(key.dependency, key.session) {}  // NOLINT

  const DependencyId& dependency;
  const SessionId& session;
};

struct BoundKeyHash {
  using is_transparent = void;
  std::size_t operator()(const BoundKeyRef& key) const {
    return absl::HashOf(key.dependency, key.session);
  }
};
struct BoundKeyEqual {
  using is_transparent = void;
  bool operator()(const BoundKeyRef& a, const BoundKeyRef& b) const {
    return a.session == b.session && a.dependency == b.dependency;
  }
};

// What a bound says, without whose it is.
struct BoundValue {
  Steps steps;
  absl::Duration lease;
  absl::Duration base_lease;
  absl::Duration call_deadline;

  friend bool operator==(const BoundValue&, const BoundValue&) = default;
};

// What the store holds of the ledgers' bounds, and what is being written. Rule C4: a grant may be
// sent once every state that a successor could find covers it; rule C5: every such state sums to at
// most the quota, because the lowered bounds that a raise spends are written in the same
// transaction. Raises beyond raises_max wait for the next write, so that the first of many can be
// sent while the last are not written yet; what lowers a bound never waits. One write is under way
// at most. Pure. Thread-compatible.
class DurableBounds {
 public:
  // What must be durable for a key now; nothing if the session holds nothing any more.
  using Wanted = std::optional<BoundValue>;
  struct Write {
    WriteBatch batch;
    std::vector<SessionId> sessions;  // all of whose bounds are as wanted once it has landed
  };

  // What a successor would find now; about how many raises a write has at most. While more wait
  // than fit, the limit grows from write to write: a write takes a while however little it has, and
  // what arrives between two of them is handled before the second is sent.
  explicit DurableBounds(const std::vector<Bound>& found, std::size_t raises_max = 1000);
  DurableBounds(const DurableBounds&) = delete;
  DurableBounds& operator=(const DurableBounds&) = delete;

  // The bound of this key may have changed. To be called for every change of what is wanted.
  void Touch(const BoundKeyRef& key, Instant now);
  // True if a successor is sure to find at least this for the key.
  bool Covers(const BoundKeyRef& key, const BoundValue& value) const;
  // The least that a successor could find, in every component; nothing if it may find nothing.
  Wanted Lowest(const BoundKeyRef& key) const;

  bool writing() const { return writing_; }
  // Since when something waits to be written; nothing if all is.
  std::optional<Instant> touched_at() const { return touched_at_; }

  // Starts a write of touched keys; `wanted` tells what each should be, `named` whose that is.
  // Sessions are served in the order of `waiting`, and those that are served leave it. The batch is
  // empty, and no write under way, if the store has it all already. Requires !writing().
  template <typename WantedOf, typename Named>
  Write Start(const WantedOf& wanted, const Named& named, FifoSet<SessionId>& waiting) {
    Write write;
    const auto add = [&](Place& place, const Wanted& value) {
      if (Add(write.batch, place, value)) write.batch.put.push_back(named(place.first, *value));
    };
    for (Place* const place : std::exchange(touched_, {})) {
      place->second.touched = false;
      const Wanted value = wanted(place->first);
      if (!Waits(*place, value)) add(*place, value);
    }
    const std::size_t lowered = write.batch.put.size();
    const auto full = [&] { return write.batch.put.size() - lowered >= raises_now_; };
    const auto take = [&](const SessionId& session) {
      for (Place* const place : TakeRaises(session)) add(*place, wanted(place->first));
    };
    while (!waiting.empty() && !full()) {
      write.sessions.push_back(waiting.Pop());
      take(write.sessions.back());
    }
    while (!rising_order_.empty() && !full()) take(rising_order_.Pop());
    if (rising_order_.empty()) touched_at_.reset();
    const bool more = !waiting.empty() || !rising_order_.empty();
    raises_now_ = more ? raises_now_ * kRaisesGrowth : raises_max_;
    writing_ = !write.batch.empty();
    return write;
  }
  // The write under way has ended. If it failed, the store may hold the old or the new state.
  void Finish(bool ok, Instant now);

 private:
  struct State {
    std::optional<BoundValue> durable;
    std::optional<Wanted> pending;  // what the write under way makes of it
    bool uncertain = false;         // a write failed: the store may hold either value
    bool touched = false;
    bool rising = false;  // a raise that waits
  };
  using Place = std::pair<const BoundKey, State>;

  void Touch(Place& place, Instant now);
  // Into the batch; true if `wanted` is to be put.
  bool Add(WriteBatch& batch, Place& place, const Wanted& wanted);
  // True if it is a raise, which now waits.
  bool Waits(Place& place, const Wanted& wanted);
  void WaitNoLonger(Place& place);
  std::vector<Place*> TakeRaises(const SessionId& session);
  void Settle(State& state, const Wanted& written);
  void Doubt(Place& place, const Wanted& written, Instant now);
  void DropIfEmpty(const Place& place);

  static constexpr std::size_t kRaisesGrowth = 3;
  const std::size_t raises_max_;
  std::size_t raises_now_ = raises_max_;  // of the next write

  // Found by hash and never iterated, so that everything has one order.
  absl::node_hash_map<BoundKey, State, BoundKeyHash, BoundKeyEqual> places_;
  std::vector<Place*> touched_;
  absl::flat_hash_map<SessionId, std::vector<Place*>> rising_;
  FifoSet<SessionId> rising_order_;  // the keys of rising_
  std::vector<Place*> pending_;
  std::optional<Instant> touched_at_;
  bool writing_ = false;
};

}  // namespace plimsoll::internal
