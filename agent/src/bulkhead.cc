#include "plimsoll/agent/bulkhead.h"

#include <utility>

#include "agent/src/limiter.h"
#include "agent/src/permit_queue.h"
#include "plimsoll/agent/acquire_await.h"

namespace plimsoll {

std::string_view ToString(GrantStage stage) {
  switch (stage) {
    case GrantStage::kNone:
      return "none";
    case GrantStage::kLease:
      return "lease";
    case GrantStage::kBase:
      return "base";
    case GrantStage::kReserve:
      return "reserve";
  }
  return "none";
}

Bulkhead::Bulkhead(std::string dependency, internal::Limiter* limiter)
    : dependency_(std::move(dependency)), limiter_(limiter) {}

// A callback may use the bulkhead: all that are due here have run before it is gone, also those
// which would else wait for the end of the one that destroys it.
Bulkhead::~Bulkhead() {
  limiter_->Drain();
  internal::PermitQueue::DeliverDeferred();
  limiter_->Abandon();
}

Admission Bulkhead::TryAcquire(CallSite site) { return limiter_->TryAcquire(site); }
Admission Bulkhead::TryAcquire(const CallOptions& options, CallSite site) {
  return limiter_->TryAcquire(options, site);
}
Admission Bulkhead::Acquire(const CallOptions& options, CallSite site) {
  return limiter_->Acquire(options, site);
}
void Bulkhead::AcquireAsync(const CallOptions& options, std::function<void(Admission)> callback,
                            CallSite site) {
  limiter_->AcquireAsync(options, std::move(callback), site);
}
AcquireAwaiter Bulkhead::AcquireAwait(const CallOptions& options, Executor executor,
                                      CallSite site) {
  return AcquireAwaiter(limiter_, options, std::move(executor), site);
}
int Bulkhead::limit() const { return limiter_->limit(); }
GrantStage Bulkhead::stage() const { return limiter_->stage(); }
int Bulkhead::in_flight() const { return limiter_->in_flight(); }
BulkheadStats Bulkhead::stats() const { return limiter_->Stats(); }

}  // namespace plimsoll
