#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "plimsoll/core/check.h"

namespace plimsoll::internal {

// A set that gives its members in the order in which they came. Of thousands of strings an ordered
// set would be slow: each step of a search waits for the memory of the one before.
// Thread-compatible.
template <typename Key>
class FifoSet {
 public:
  bool empty() const { return places_.empty(); }
  std::size_t size() const { return places_.size(); }
  bool contains(const Key& key) const { return places_.contains(key); }

  // Who is in it keeps its place.
  void Insert(const Key& key) {
    if (!places_.try_emplace(key, next_).second) return;
    order_.emplace_back(next_++, key);
    if (order_.size() > 2 * places_.size() + kSlack) DropErased();
  }
  void Erase(const Key& key) { places_.erase(key); }
  // The first. Requires !empty().
  Key Pop() {
    PLIMSOLL_CHECK(!empty(), "nobody is in this set");
    while (IsErased(order_.front())) order_.pop_front();
    Key key = std::move(order_.front().second);
    order_.pop_front();
    places_.erase(key);
    return key;
  }

 private:
  using Place = std::pair<std::int64_t, Key>;
  static constexpr std::size_t kSlack = 64;

  // Who came back later has a place further on.
  bool IsErased(const Place& place) const {
    const auto found = places_.find(place.second);
    return found == places_.end() || found->second != place.first;
  }
  void DropErased() {
    std::erase_if(order_, [this](const Place& place) { return IsErased(place); });
  }

  absl::flat_hash_map<Key, std::int64_t> places_;
  std::deque<Place> order_;  // erased ones, too
  std::int64_t next_ = 0;
};

}  // namespace plimsoll::internal
