#pragma once

#include <cstdint>

#include "plimsoll/agent/call_options.h"
#include "plimsoll/agent/deadline.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// What a call asks of a limiter: CallOptions after they have been looked at once. Keeps nothing of
// the caller's but the text of the call site, so it may wait in a queue. A value.
struct CallRequest {
  CallSite site;
  Calls cost = 1;
  std::uint32_t priority = 0;  // a class there is
  std::uint32_t tenant = 0;    // as TenantTable::SlotsOf() says; 0: nobody
  Deadline deadline = {};      // the caller's own and that of its scopes
};

}  // namespace plimsoll::internal
