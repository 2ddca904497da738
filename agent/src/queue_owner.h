#pragma once

#include <optional>

#include "absl/time/time.h"
#include "agent/src/call_request.h"
#include "plimsoll/agent/permit.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// What a queue of callers needs of the limiter it belongs to. All are called with the queue's lock
// held and must not come back to the queue, but Recheck(), which is called without.
class QueueOwner {
 public:
  // Whether TryTurn() would let the call in, or send it away.
  virtual bool HasRoom(const CallRequest& request, Instant now) const = 0;
  // Lets the call in if there is room. Else why it has to be refused; nothing if it is to wait on.
  // Counts no refusal.
  virtual std::optional<Admission> TryTurn(const CallRequest& request) = 0;
  // What calls take now, zero if that is no reason to refuse one.
  virtual absl::Duration CallTime() const = 0;
  // From here on whoever makes room calls PermitQueue::Wake(), or needs not to any more. True comes
  // before the next HasRoom(), so that no room is missed.
  virtual void TellWhoLeaves(bool somebody_waits) = 0;
  virtual void CountRefusal(const CallRequest& request, Rejection why) = 0;

  // A permit that TryTurn() gave has reached its caller, perhaps late: gives it back and refuses,
  // if the deadline cannot be met any more.
  virtual Admission Recheck(const CallRequest& request, Admission admission) = 0;

 protected:
  ~QueueOwner() = default;
};

}  // namespace plimsoll::internal
