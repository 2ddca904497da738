#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "plimsoll/controller/store.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// What the store holds of the ledgers' bounds, and what is being written. Rule C4: a grant may be
// sent once every state that a successor could find covers it; rule C5: every such state sums to at
// most the quota, because the lowered bounds that a raise spends are written in the same
// transaction. Raises beyond raises_max wait for the next write, so that the first of many can be
// sent while the last are not written yet; what lowers a bound never waits. One write is under way
// at most. Pure. Thread-compatible.
class DurableBounds {
 public:
  // What must be durable for a key now; nothing if the session holds nothing any more.
  using Wanted = std::optional<Bound>;
  struct Write {
    WriteBatch batch;
    std::set<SessionId> sessions;  // all of whose bounds are as wanted once it has landed
  };

  // What a successor would find now; about how many raises a write has at most.
  explicit DurableBounds(const std::vector<Bound>& found, std::size_t raises_max = 1000);

  // The bound of this key may have changed. To be called for every change of what is wanted.
  void Touch(const BoundKey& key, Instant now);
  // True if a successor is sure to find at least these steps and terms for the bound's key.
  bool Covers(const Bound& bound) const;
  // The least that a successor could find, in every component; nothing if it may find nothing.
  std::optional<Bound> LowestBound(const BoundKey& key) const;

  bool writing() const { return writing_; }
  // Since when something waits to be written; nothing if all is.
  std::optional<Instant> touched_at() const { return touched_at_; }

  // Starts a write of touched keys; `wanted` tells what each should be. Sessions are served in the
  // order of `waiting`, and those that are served leave it. The batch is empty, and no write under
  // way, if the store has it all already. Requires !writing().
  template <typename WantedOf>
  Write Start(const WantedOf& wanted, std::set<SessionId>& waiting) {
    Write write;
    std::vector<BoundKey> keys(touched_.begin(), touched_.end());
    std::sort(keys.begin(), keys.end());
    for (const BoundKey& key : keys) Sort(write.batch, key, wanted(key));
    touched_.clear();
    const std::size_t lowered = write.batch.put.size();
    const auto add = [&](const BoundKey& key) { Add(write.batch, key, wanted(key)); };
    const auto full = [&] { return write.batch.put.size() - lowered >= raises_max_; };
    while (!waiting.empty() && !full()) {
      TakeRaises(*waiting.begin(), add);
      write.sessions.insert(waiting.extract(waiting.begin()));
    }
    while (!rising_.empty() && !full()) TakeRaises(rising_.begin()->first, add);
    if (rising_.empty()) touched_at_.reset();
    writing_ = !write.batch.empty();
    return write;
  }
  // The write under way has ended. If it failed, the store may hold the old or the new state.
  void Finish(bool ok, Instant now);

 private:
  // Into the batch, or among the raises that wait.
  void Sort(WriteBatch& batch, const BoundKey& key, const Wanted& wanted);
  void Add(WriteBatch& batch, const BoundKey& key, const Wanted& wanted);
  // True if it is above what a successor is sure to find, in no component below.
  bool IsRaise(const BoundKey& key, const Wanted& wanted) const;
  template <typename AddKey>
  void TakeRaises(SessionId session, const AddKey& add) {
    const auto first = rising_.lower_bound({session, DependencyId()});
    auto last = first;
    for (; last != rising_.end() && last->first == session; ++last) add({last->second, session});
    rising_.erase(first, last);
  }

  const std::size_t raises_max_;

  absl::flat_hash_map<BoundKey, Bound> durable_;
  absl::flat_hash_set<BoundKey> touched_;
  absl::btree_set<std::pair<SessionId, DependencyId>> rising_;  // raises that wait
  std::optional<Instant> touched_at_;
  std::map<BoundKey, Wanted> pending_;
  std::set<BoundKey> uncertain_;  // a write failed: the store may hold either value
  bool writing_ = false;
};

}  // namespace plimsoll::internal
