#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "plimsoll/controller/store.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// What the store holds of the ledgers' bounds, and what is being written. Rule C4: a grant may be
// sent once every state that a successor could find covers it; rule C5: every such state sums to at
// most the quota, because the lowered bounds that a raise spends are written in the same
// transaction. One write is under way at most. Pure. Thread-compatible.
class DurableBounds {
 public:
  // What must be durable for a key now; nothing if the session holds nothing any more.
  using Wanted = std::optional<Bound>;

  // What a successor would find now.
  explicit DurableBounds(const std::vector<Bound>& found);

  // The bound of this key may have changed.
  void Touch(const BoundKey& key, Instant now);
  // True if a successor is sure to find at least these steps and terms for the bound's key.
  bool Covers(const Bound& bound) const;
  // The least that a successor could find, in every component; nothing if it may find nothing.
  std::optional<Bound> LowestBound(const BoundKey& key) const;

  bool writing() const { return writing_; }
  // Since when something waits to be written; nothing if all is.
  std::optional<Instant> touched_at() const { return touched_at_; }

  // Starts a write of all touched keys; `wanted` tells what each should be. The batch is empty, and
  // no write under way, if the store has it all already. Requires !writing().
  template <typename WantedOf>
  WriteBatch Start(const WantedOf& wanted) {
    WriteBatch batch;
    std::vector<BoundKey> keys(touched_.begin(), touched_.end());
    std::sort(keys.begin(), keys.end());
    for (const BoundKey& key : keys) Add(batch, key, wanted(key));
    touched_.clear();
    touched_at_.reset();
    writing_ = !batch.empty();
    return batch;
  }
  // The write under way has ended. If it failed, the store may hold the old or the new state.
  void Finish(bool ok, Instant now);

 private:
  void Add(WriteBatch& batch, const BoundKey& key, const Wanted& wanted);

  absl::flat_hash_map<BoundKey, Bound> durable_;
  absl::flat_hash_set<BoundKey> touched_;
  std::optional<Instant> touched_at_;
  std::map<BoundKey, Wanted> pending_;
  std::set<BoundKey> uncertain_;  // a write failed: the store may hold either value
  bool writing_ = false;
};

}  // namespace plimsoll::internal
