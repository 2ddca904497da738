#pragma once

#include <string>
#include <vector>

#include "plimsoll/controller/snapshot.h"

namespace plimsoll::internal {

// Finding rows of the read model. Pure. Thread-safe.

// Null if there is none.
const DependencyRow* FindDependency(const Snapshot& snapshot, const std::string& name);
// Of all instances.
std::vector<const LimitRow*> LimitsOf(const Snapshot& snapshot, const std::string& dependency);

// Whether a value passes an equality filter: an empty one lets everything pass.
inline bool PassesFilter(const std::string& wanted, const std::string& value) {
  return wanted.empty() || wanted == value;
}

// Of several sessions of one instance, the one that lives: not fenced, heard of last.
template <typename Row>
bool IsMoreAlive(const Row& a, const Row& b) {
  return a.fenced != b.fenced ? b.fenced : a.age < b.age;
}

}  // namespace plimsoll::internal
