#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "plimsoll/core/check.h"

namespace plimsoll::internal {

// A map that is iterated in the order of its keys, whatever was done before, and searched by hash.
// Of thousands of strings, a tree is slow at both: each step waits for the memory of the one
// before. Adding and erasing move pointers about: O(n), but so fast that 10,000 can come at once.
// Pointers to entries stay valid until they are erased; iterators do not. Thread-compatible.
template <typename Key, typename Value>
class IndexedMap {
 public:
  using value_type = std::pair<const Key, Value>;

  template <typename Entry>
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = Entry*;
    using reference = Entry&;

    Iterator() = default;
    explicit Iterator(const std::unique_ptr<IndexedMap::value_type>* at) : at_(at) {}
    Entry& operator*() const { return **at_; }
    Entry* operator->() const { return at_->get(); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const std::unique_ptr<IndexedMap::value_type>* at_ = nullptr;
  };
  using iterator = Iterator<value_type>;
  using const_iterator = Iterator<const value_type>;

  iterator begin() { return iterator(entries_.data()); }
  iterator end() { return iterator(entries_.data() + entries_.size()); }
  const_iterator begin() const { return const_iterator(entries_.data()); }
  const_iterator end() const { return const_iterator(entries_.data() + entries_.size()); }
  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

  bool contains(const Key& key) const { return index_.contains(key); }
  // Null if there is none.
  Value* Find(const Key& key) {
    const auto found = index_.find(key);
    return found == index_.end() ? nullptr : &(*found)->second;
  }
  const Value* Find(const Key& key) const {
    const auto found = index_.find(key);
    return found == index_.end() ? nullptr : &(*found)->second;
  }
  // Requires contains(key).
  Value& at(const Key& key) { return *Checked(Find(key)); }
  const Value& at(const Key& key) const { return *Checked(Find(key)); }

  // The value of the key, made of `arguments` if there is none.
  template <typename... Arguments>
  Value& Emplace(const Key& key, Arguments&&... arguments) {
    if (Value* const value = Find(key)) return *value;
    auto entry =
        std::make_unique<value_type>(std::piecewise_construct, std::forward_as_tuple(key),
                                     std::forward_as_tuple(std::forward<Arguments>(arguments)...));
    value_type* const added = entry.get();
    entries_.insert(PlaceOf(key), std::move(entry));
    index_.insert(added);
    return added->second;
  }
  // Does nothing if there is none.
  void Erase(const Key& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return;
    const auto place = PlaceOf(key);  // before `key` is gone, which may lie in the entry
    index_.erase(found);
    entries_.erase(place);
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const Key& key) const { return absl::Hash<Key>()(key); }
    std::size_t operator()(const value_type* entry) const { return (*this)(entry->first); }
  };
  struct Same {
    using is_transparent = void;
    bool operator()(const value_type* a, const value_type* b) const { return a == b; }
    bool operator()(const value_type* a, const Key& b) const { return a->first == b; }
    bool operator()(const Key& a, const value_type* b) const { return a == b->first; }
  };

  auto PlaceOf(const Key& key) {
    return std::lower_bound(
        entries_.begin(), entries_.end(), key,
        [](const auto& entry, const Key& sought) { return entry->first < sought; });
  }
  template <typename Pointer>
  static Pointer Checked(Pointer value) {
    PLIMSOLL_CHECK(value != nullptr, "there is no such entry");
    return value;
  }

  std::vector<std::unique_ptr<value_type>> entries_;  // ascending
  absl::flat_hash_set<value_type*, Hash, Same> index_;
};

}  // namespace plimsoll::internal
