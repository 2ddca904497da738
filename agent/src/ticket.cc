#include "agent/src/ticket.h"

#include "agent/src/sync_point.h"
#include "plimsoll/core/check.h"

namespace plimsoll::internal {

void AsyncTicket::Deliver(const std::shared_ptr<AsyncTicket>& ticket) {
  if (const TimerId timer = ticket->timer.load(std::memory_order_acquire); timer != kNoTimer) {
    ticket->timers->Cancel(timer);
  }
  if (ticket->executor_ == nullptr) return ticket->Run();
  ticket->executor_([ticket] { ticket->Run(); });
}

void AsyncTicket::Run() {
  Reach(SyncPoint::kBeforeClaim);
  if (!Claim()) return;
  Admission admission = *std::move(answer);
  answer.reset();
  if (owner != nullptr && admission) admission = owner->Recheck(request, std::move(admission));
  try {
    callback_(std::move(admission));
  } catch (...) {
    PLIMSOLL_CHECK(false, "the callback of AcquireAsync() must not throw");
  }
}

}  // namespace plimsoll::internal
