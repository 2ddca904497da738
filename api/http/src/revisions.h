#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "plimsoll/controller/snapshot.h"

namespace plimsoll::internal {

enum class Collection { kDependencies, kQuotas, kLimits, kInstances };
inline constexpr std::size_t kCollections = 4;

// Counts the changes of each collection, so that whoever knows an answer need not get it again. A
// revision rises when rows come, go, or are decided anew; the generation rises when a measured
// number changes. Ages, and times that are left, are neither: they change without anything
// happening. A revision names the reign, so that none is ever used twice.
// Confined to the operator plane's thread.
class Revisions {
 public:
  // O(rows) for a new snapshot, nothing for the same one.
  void Note(const std::shared_ptr<const Snapshot>& snapshot);

  // "limits.7-418": as of the last Note().
  std::string Revision(Collection collection) const;
  // "\"limits.7-418.12\""
  std::string ETag(Collection collection) const;

 private:
  struct Count {
    std::int64_t revision = 1;
    std::int64_t generation = 1;
  };
  void Raise(Collection collection, bool decided, bool measured);

  std::shared_ptr<const Snapshot> seen_;
  std::string settings_;  // of all dependencies
  std::array<Count, kCollections> counts_;
};

// Whether one of the tags of an If-None-Match is `etag`.
bool MatchesETag(const std::string& if_none_match, const std::string& etag);

}  // namespace plimsoll::internal
