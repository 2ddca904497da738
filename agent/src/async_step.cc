#include "agent/src/async_step.h"

#include <utility>

#include "absl/time/time.h"
#include "agent/src/limiter.h"
#include "agent/src/limiter_of.h"
#include "agent/src/permit_queue.h"

namespace plimsoll::internal {

std::optional<Admission> AsyncStep::TryWithoutWaiting(Bulkhead& bulkhead,
                                                      const CallOptions& options, CallSite site) {
  return LimiterOf::Get(bulkhead).TryBeforeWaiting(options, site);
}

// From the moment at which the ticket is in the queue another thread may be in `then`. The stop is
// listened to last, since only then there is something to take back.
void AsyncStep::WaitForPermit(Bulkhead& bulkhead, const CallOptions& options, CallSite site) {
  const auto self = shared_from_this();
  const Limiter& limiter = LimiterOf::Get(bulkhead);
  const auto ticket = std::make_shared<AsyncTicket>(
      limiter.RequestOf(options, site),
      [self](Admission admission) { self->Finish(std::move(admission)); }, executor_);
  queue_ = limiter.queue();
  ticket_ = ticket;
  queue_->WaitAsync(ticket, absl::FromChrono(options.wait));
  on_stop_.emplace(stop_, OnStop{this});
}

void AsyncStep::WaitUntil(Instant at, Timers& timers) {
  const auto self = shared_from_this();
  timers_ = &timers;
  timer_ = timers.Schedule(at, [self] { self->FinishInExecutor(); });
  if (timer_ == kNoTimer) return FinishInExecutor();
  on_stop_.emplace(stop_, OnStop{this});
}

void AsyncStep::Abandon() {
  TakeBack();
  done_ = true;
}

// If this is just being destroyed, the destructor waits for the end of this.
void AsyncStep::Stop() {
  const auto self = weak_from_this().lock();
  if (self != nullptr && TakeBack()) FinishInExecutor();
}

bool AsyncStep::TakeBack() {
  if (queue_ == nullptr) return timers_ != nullptr && timers_->Cancel(timer_);
  const auto ticket = ticket_.lock();
  return ticket != nullptr && queue_->GiveUp(*ticket);
}

void AsyncStep::FinishInExecutor() {
  if (executor_ == nullptr) return Finish(std::nullopt);
  executor_([self = shared_from_this()] { self->Finish(std::nullopt); });
}

void AsyncStep::Finish(std::optional<Admission> answer) {
  if (done_.exchange(true)) {
    if (answer.has_value() && *answer) (*answer)->Ignore();
    return;
  }
  const Then then = std::exchange(then_, nullptr);
  then(std::move(answer));
}

}  // namespace plimsoll::internal
