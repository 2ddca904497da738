#include "plimsoll/core/protocol.h"

#include <string_view>

namespace plimsoll {

std::string_view ToString(RefusalCode code) {
  switch (code) {
    case RefusalCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case RefusalCode::kAgentTooOld:
      return "AGENT_TOO_OLD";
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
