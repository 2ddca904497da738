// What a limiter does for those who wait.

#include <utility>

#include "agent/src/limiter.h"
#include "plimsoll/core/check.h"

namespace plimsoll::internal {

Admission Limiter::Acquire(const CallOptions& options, CallSite site) {
  if (auto answer = TryBeforeWaiting(options, site)) return *std::move(answer);
  return queue_->Wait(RequestOf(options, site), absl::FromChrono(options.wait));
}

void Limiter::AcquireAsync(const CallOptions& options, AsyncTicket::Callback callback,
                           CallSite site) {
  PLIMSOLL_CHECK(callback != nullptr, "somebody must get the answer");
  const auto ticket = std::make_shared<AsyncTicket>(RequestOf(options, site), std::move(callback));
  if (auto answer = TryBeforeWaiting(options, site)) {
    return PermitQueue::DeliverAtOnce(ticket, *std::move(answer));
  }
  queue_->WaitAsync(ticket, absl::FromChrono(options.wait));
}

std::optional<Admission> Limiter::TryBeforeWaiting(const CallOptions& options, CallSite site) {
  const CallRequest request = RequestOf(options, site);
  Attempt attempt = TryPass(request);
  if (attempt.why != Rejection::kLimit) return EndAttempt(request, attempt);
  NoteNoRoom(request);
  const bool waits = queue_ != nullptr && options.wait > std::chrono::nanoseconds::zero() &&
                     !in_force_.observing.load(std::memory_order_relaxed) &&
                     !FitsNever(request, limit());
  if (!waits) return EndAttempt(request, attempt);
  if (attempt.call.has_value()) Leave(request.cost);
  return std::nullopt;
}

bool Limiter::FitsNever(const CallRequest& request, Calls limit) const {
  return limit > 0 && request.cost > MostFor(request, limit);
}

bool Limiter::Overtakes(const InFlight::Entered& call, std::uint32_t priority) const {
  return call.waiting() && queue_ != nullptr && queue_->Blocks(priority);
}

bool Limiter::HasRoom(const CallRequest& request, Instant now) const {
  if (in_force_.observing.load(std::memory_order_relaxed)) return true;
  const Calls limit = in_force_.words.LimitAt(now);
  return FitsNever(request, limit) ||
         counted_.in_flight.Read().calls <= MostFor(request, limit) - request.cost;
}

std::optional<Admission> Limiter::TryTurn(const CallRequest& request) {
  const Attempt attempt = Enter(request);
  if (!attempt.why.has_value()) return Admit(request, *attempt.call, attempt.limit);
  if (attempt.call.has_value()) LeaveQuietly(request.cost);
  if (in_force_.observing.load(std::memory_order_relaxed)) {
    return ObserveTurn(request, *attempt.why);
  }
  if (attempt.why == Rejection::kLimit && !FitsNever(request, limit())) return std::nullopt;
  return *attempt.why;
}

std::optional<Admission> Limiter::ObserveTurn(const CallRequest& request, Rejection why) {
  const auto call = counted_.in_flight.TryEnter(clock_.Now(), request.cost, kCallsMax);
  if (!call.has_value()) return std::nullopt;
  if (Observes(*call)) return AdmitObserved(request, *call, why);
  LeaveQuietly(request.cost);
  return std::nullopt;
}

// For one who holds the lock of the queue and looks after the others itself. What has been in for
// an instant makes no room that was not there before. The limiter has its owner: while it has not,
// nobody waits.
void Limiter::LeaveQuietly(Calls cost) {
  PLIMSOLL_CHECK(!counted_.in_flight.Leave(cost).last_of_orphan, "nobody waits at an orphan");
}

absl::Duration Limiter::CallTime() const {
  return counted_.in_flight.calls() == 0 ? absl::ZeroDuration()
                                         : absl::Nanoseconds(in_force_.service_time.ns());
}

void Limiter::TellWhoLeaves(bool somebody_waits) {
  if (somebody_waits) {
    counted_.in_flight.SetWaiting();
  } else {
    counted_.in_flight.ClearWaiting();
  }
}

// The permit keeps the limiter alive.
Admission Limiter::Recheck(const CallRequest& request, Admission admission) {
  const Instant now = clock_.Now();
  const bool passed = now.ns >= admission->call_.deadline_ns;
  const bool alone = counted_.in_flight.calls() <= request.cost;
  const std::int64_t needed = alone ? 0 : in_force_.service_time.ns();
  if (!passed &&
      (request.deadline.never() || request.deadline.lease_clock_ns() - now.ns >= needed)) {
    return admission;
  }
  CountRefusal(request, Rejection::kDeadline);
  admission->Ignore();
  return Rejection::kDeadline;
}

// As Enter(), but for newcomers, who may not overtake those who wait.
Limiter::Attempt Limiter::TryPass(const CallRequest& request) {
  Attempt attempt = Enter(request);
  if (!attempt.why.has_value() && Overtakes(*attempt.call, request.priority)) [[unlikely]] {
    LeaveTenant(request.tenant, request.cost);
    attempt.why = Rejection::kLimit;
  }
  return attempt;
}

// Comes after a change that makes room. Who waits has set the bit before it looked for room, so
// either its look sees the change or this one sees the bit.
void Limiter::WakeWaiting() {
  if (queue_ == nullptr || !counted_.in_flight.Read().waiting) return;
  queue_->Wake(PermitQueue::Deliver::kByTimer);
}

// Who waited is not in this process, and the lock of the queue may be held for ever.
void Limiter::InForkedChild() {
  queue_ = nullptr;
  counted_.in_flight.ClearWaiting();
  StopAdmitting();
}

}  // namespace plimsoll::internal
