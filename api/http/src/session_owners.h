#pragma once

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// Who opened which session of the agent plane: nobody else may use it. Thread-compatible.
class SessionOwners {
 public:
  // Nobody else has it. A session without an owner is from before a restart: whoever is the first
  // to go on with it has it.
  bool MayUse(const SessionId& session, const std::string& name) const {
    const auto found = owners_.find(session);
    return found == owners_.end() || found->second == name;
  }
  // False, and nothing changes, if it is somebody else's.
  bool Claim(const SessionId& session, const std::string& name) {
    return owners_.try_emplace(session, name).first->second == name;
  }
  void Forget(const SessionId& session) { owners_.erase(session); }
  // Drops all that are not in `live`.
  void KeepOnly(const absl::flat_hash_set<SessionId>& live) {
    absl::erase_if(owners_, [&live](const auto& entry) { return !live.contains(entry.first); });
  }
  std::size_t size() const { return owners_.size(); }

 private:
  absl::flat_hash_map<SessionId, std::string> owners_;
};

}  // namespace plimsoll::internal
