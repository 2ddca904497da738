#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "plimsoll/agent/outcome.h"
#include "plimsoll/agent/permit.h"

namespace plimsoll {

// How a call ended that came back with this status:
//   kOverload   RESOURCE_EXHAUSTED, UNAVAILABLE: "try again later, or elsewhere". A dependency that
//               cannot be reached is UNAVAILABLE as well; gRPC cannot tell, and its channel backs
//               off by itself then
//   kTimeout    DEADLINE_EXCEEDED
//   kCancelled  CANCELLED
//   kError      INTERNAL, UNKNOWN, DATA_LOSS
//   kSuccess    all others: answers, or errors that are the caller's own
Outcome OutcomeOfStatus(grpc::StatusCode code);

// The status of a call that was refused: RESOURCE_EXHAUSTED for kLimit, kQueueFull and kTenant,
// UNAVAILABLE for kBreakerOpen and kDraining, DEADLINE_EXCEEDED for kDeadline. `who` refused it.
grpc::Status StatusOf(Rejection rejection, const std::string& who);

}  // namespace plimsoll
