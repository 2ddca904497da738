#pragma once

#include <map>

#include "controller/src/state.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// Divides the capacity of a dependency among its sessions: sets wanted, share, offer, base and
// reason of every member, from demands, floors, ceilings and the laws' limits. What may really be
// granted of an offer, the ledger decides.
//
// Twice by the same rule (apportion.h), first among the services, then among the instances of each:
//
//              weight     low                             high            top
//   service    weight     minimum as far as it is usable, what its        what they may have,
//                         what it does not lend, and the  instances can   at most its maximum
//                         floors of its instances         use
//   instance   load       floor, or its part of the       what it could   ceiling, or its law's
//                         minimum                         use (its need)  limit
//
// So contending services get capacity by their weights, however many instances they have, and a
// call has the same chance at every instance of one service, wherever the load balancer sent it.
// Where shares are below one call, services and instances that want one take turns (turns.h).
//
// Kept back: the join reserve, and what silent and fenced sessions hold (census.h); these get no
// share. Leaving sessions keep what runs.
// Instances with nothing to do keep a call as long as there is one for everybody.
//
// The base of an instance is its part of the minimum of its service, spread evenly by name, or what
// the policy says. Pure. O(n log n).
void Allocate(DependencyState& dependency, const Sessions& sessions, Instant now);

}  // namespace plimsoll::internal
