#include "plimsoll/core/protocol.h"

#include <algorithm>
#include <string_view>

namespace plimsoll {

int Agree(const ProtocolRange& ours, const ProtocolRange& theirs) {
  const int highest = std::min(ours.max, theirs.max);
  return highest >= std::max(ours.min, theirs.min) ? highest : 0;
}

std::string_view ToString(RefusalCode code) {
  switch (code) {
    case RefusalCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case RefusalCode::kAgentTooOld:
      return "AGENT_TOO_OLD";
    case RefusalCode::kControllerTooOld:
      return "CONTROLLER_TOO_OLD";
    case RefusalCode::kSessionUnknown:
      return "SESSION_UNKNOWN";
    case RefusalCode::kIdentityRequired:
      return "IDENTITY_REQUIRED";
    case RefusalCode::kSessionSuperseded:
      return "SESSION_SUPERSEDED";
    case RefusalCode::kStaleSync:
      return "STALE_SYNC";
    case RefusalCode::kRateLimited:
      return "RATE_LIMITED";
    case RefusalCode::kNotLeader:
      return "NOT_LEADER";
    case RefusalCode::kNotReady:
      return "NOT_READY";
  }
  return "INTERNAL";
}

}  // namespace plimsoll
