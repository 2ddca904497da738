#include "plimsoll/agent/acquire_await.h"

#include <utility>

#include "agent/src/limiter.h"
#include "agent/src/permit_queue.h"
#include "agent/src/ticket.h"

namespace plimsoll {

using internal::AsyncTicket;

AcquireAwaiter::AcquireAwaiter(internal::Limiter* limiter, const CallOptions& options,
                               Bulkhead::Executor executor, CallSite site)
    : limiter_(limiter), options_(options), executor_(std::move(executor)), site_(site) {}

AcquireAwaiter::~AcquireAwaiter() {
  if (ticket_ != nullptr) queue_->GiveUp(*ticket_);
}

bool AcquireAwaiter::await_ready() {
  answer_ = limiter_->TryBeforeWaiting(options_, site_);
  return answer_.has_value();
}

// From the moment at which the ticket is in the queue, another thread may let the coroutine go on,
// and nothing of this object may be touched.
void AcquireAwaiter::await_suspend(std::coroutine_handle<> coroutine) {
  const auto go_on = [this, coroutine](Admission admission) {
    answer_.emplace(std::move(admission));
    ticket_.reset();
    coroutine.resume();
  };
  const auto ticket =
      std::make_shared<AsyncTicket>(limiter_->RequestOf(options_, site_), go_on, executor_);
  internal::PermitQueue& queue = *limiter_->queue();
  queue_ = &queue;
  ticket_ = ticket;
  queue.WaitAsync(ticket, absl::FromChrono(options_.wait));
}

Admission AcquireAwaiter::await_resume() { return *std::move(answer_); }

}  // namespace plimsoll
