#pragma once

#include "controller/src/state.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// Divides the capacity of a dependency among its sessions: sets wanted, share, offer and reason of
// every member, from demands, floors, ceilings and the laws' limits. What may really be granted of
// an offer, the ledger decides.
//
// Sessions whose limit's hold has run out, and fenced ones, get no share; what they still hold is
// taken from the capacity. Leaving sessions keep what runs. Among the others, the share above the
// floor is in proportion to demand: a call has the same chance at every instance of the fleet,
// wherever the load balancer sent it.
//
// An offer follows the share only if that is worth a message: a raise that spends free capacity
// always; one that takes from others only if it is large enough. So small changes of demand move
// nothing. Pure. O(n log n).
void Allocate(DependencyState& dependency, const std::map<SessionId, SessionState>& sessions,
              Instant now);

}  // namespace plimsoll::internal
