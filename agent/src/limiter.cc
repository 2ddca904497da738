#include "agent/src/limiter.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "agent/src/sync_point.h"
#include "agent/src/timer_thread.h"
#include "plimsoll/core/check.h"

namespace plimsoll::internal {
namespace {

std::int64_t DeadlineNs(Instant admitted, std::int64_t call_deadline_ns) {
  return call_deadline_ns > kInfiniteFuture.ns - admitted.ns ? kInfiniteFuture.ns
                                                             : admitted.ns + call_deadline_ns;
}

// The two lists are the same; permit.cc checks it.
constexpr RejectReason ReasonOf(Rejection rejection) {
  return static_cast<RejectReason>(rejection);
}

}  // namespace

Limiter* Limiter::Make(const Clock& clock, const BulkheadOptions& options, Timers* timers) {
  return new Limiter(clock, options, timers);
}

Limiter::Limiter(const Clock& clock, const BulkheadOptions& options, Timers* timers)
    : clock_(clock),
      options_(options),
      tenants_(options.tenants.share < 1 ? std::make_unique<TenantTable>(options.tenants)
                                         : nullptr),
      watch_(options.permit_age_max.count() > 0
                 ? std::make_unique<PermitWatch>(absl::FromChrono(options.permit_age_max))
                 : nullptr),
      measuring_(clock.Now()) {
  PLIMSOLL_CHECK(Validate(options).ok(), "the options of a bulkhead must be valid");
  for (std::size_t i = 0; i < options.classes.size(); ++i) {
    shares_[i] = Share(options.classes[i].share);
  }
  if (options.queue.capacity > 0) {
    queue_ = &PermitQueue::Take(*this, options.queue, clock,
                                timers == nullptr ? SharedTimers() : *timers);
  }
  RegisterForkObserver(*this);
}

Limiter::~Limiter() {
  if (queue_ != nullptr) queue_->GiveBack();
}

Calls Limiter::MostFor(const CallRequest& request, Calls limit) const {
  return shares_[request.priority].Of(limit);
}

void Limiter::CountRefusal(const CallRequest& request, Rejection why) {
  counted_.rejected.Count(ReasonOf(why), request.priority, request.cost);
}

void Limiter::Abandon() {
  UnregisterForkObserver(*this);
  Drain();
  if (counted_.in_flight.Orphan()) delete this;
}

// The clock is read before the call is counted, and only then is the reading made a moment, so that
// the addition need not wait for the arithmetic. The reading serves three purposes: is the step
// still in force, when is the call due, how long did it take. Should the thread be held up after
// the reading, then it is as if it had been held up between admission and sending: its deadline
// counts from the reading, so it lies within what the controller holds back for calls admitted at
// the end of the step, and permits are checked against their deadline before sending. The same
// holds for a glance at the clock, which is early at worst. That the
// words are loaded after the call is counted is what matters (rule A3); the agent's thread stores
// them anew when a step has ended, before it reports the calls in flight.
Admission Limiter::EnterPlain(CallSite site) {
  const Deadline deadline = Deadline::Current();
  if (!deadline.never()) [[unlikely]] {
    return Try({.site = site, .deadline = deadline});
  }
  const Clock::Reading reading = clock_.Look();
  const InFlight::Entered call = counted_.in_flight.Enter([&] { return clock_.At(reading); });
  const Instant at = call.at();
  const Calls limit = in_force_.words.LimitFor(call);
  if (call.calls() > limit) [[unlikely]] {
    return Observe({.site = site}, call, Rejection::kLimit);
  }
  if (call.waiting() && Overtakes(call, 0)) [[unlikely]] {
    return Observe({.site = site}, call, Rejection::kLimit);
  }
  if (call.calls() > counted_.peak.load(std::memory_order_relaxed)) [[unlikely]] {
    RaisePeak(call.calls(), at);
  }
  if (call.calls() == limit) [[unlikely]] {
    counted_.at_limit.Start(at);
  }
  counted_.time_in_flight.Enter(at, 1);
  return {Permit::Key(), this,
          HeldCall{.admitted_ns = at.ns,
                   .deadline_ns =
                       DeadlineNs(at, in_force_.call_deadline_ns.load(std::memory_order_seq_cst)),
                   .watched = Watch(at, site)}};
}

CallRequest Limiter::RequestOf(const CallOptions& options, CallSite site) const {
  PLIMSOLL_CHECK(options.cost >= 1 && options.cost <= kCallsMax, "a call costs 1 to 1,000,000");
  PLIMSOLL_CHECK(options.priority >= 0, "the most important class is 0");
  const auto priority = static_cast<std::uint32_t>(options.priority);
  const auto last = static_cast<std::uint32_t>(options_.classes.size() - 1);
  return {.site = site,
          .cost = options.cost,
          .priority = std::min(priority, last),
          .tenant = tenants_ == nullptr ? 0 : tenants_->SlotsOf(options.tenant),
          .deadline = std::min(options.deadline, Deadline::Current())};
}

Admission Limiter::TryAcquire(const CallOptions& options, CallSite site) {
  return Try(RequestOf(options, site));
}

// As TryAcquire(), whose comment says why in this order. These calls do not go beyond their limit
// even for an instant, so lesser ones do not get in the way of important ones, nor costly ones
// beyond what the word can hold.
Limiter::Attempt Limiter::Enter(const CallRequest& request) {
  if (counted_.in_flight.calls() > MostFor(request, in_force_.words.Highest()) - request.cost) {
    return {.why = Rejection::kLimit};
  }
  const Instant at = clock_.Glance();
  if (!InTime(request, at)) return {.why = Rejection::kDeadline};
  const Calls expected = in_force_.words.LimitAt(at);
  if (!EnterTenant(request, expected)) return {.why = Rejection::kTenant};
  Attempt attempt;
  attempt.call = counted_.in_flight.TryEnter(at, request.cost, MostFor(request, expected));
  if (attempt.call.has_value()) attempt.limit = in_force_.words.LimitFor(*attempt.call);
  if (!attempt.call.has_value() || attempt.call->calls() > MostFor(request, attempt.limit))
      [[unlikely]] {
    LeaveTenant(request.tenant, request.cost);
    attempt.why = Rejection::kLimit;
  }
  return attempt;
}

Admission Limiter::Try(const CallRequest& request) {
  Attempt attempt = TryPass(request);
  if (attempt.why == Rejection::kLimit) NoteNoRoom(request);
  return EndAttempt(request, attempt);
}

Admission Limiter::EndAttempt(const CallRequest& request, const Attempt& attempt) {
  if (!attempt.why.has_value()) return Admit(request, *attempt.call, attempt.limit);
  if (attempt.call.has_value()) return Observe(request, *attempt.call, *attempt.why);
  return RefuseOrObserve(request, *attempt.why);
}

// Whether the call can expect an answer before its deadline.
bool Limiter::InTime(const CallRequest& request, Instant at) const {
  if (request.deadline.never()) return true;
  const std::int64_t left = request.deadline.lease_clock_ns() - at.ns;
  if (left <= 0) return false;
  return left >= in_force_.service_time.ns() || counted_.in_flight.calls() == 0;
}

bool Limiter::EnterTenant(const CallRequest& request, Calls limit) {
  if (request.tenant == 0) return true;
  if (tenants_->Enter(request.tenant, request.cost) > tenants_->CapOf(limit)) {
    tenants_->Leave(request.tenant, request.cost);
    return false;
  }
  Reach(SyncPoint::kTenant);
  return true;
}

Admission Limiter::Admit(const CallRequest& request, const InFlight::Entered& call, Calls limit) {
  counted_.time_in_flight.Enter(call.at(), request.cost);
  RaisePeak(call.calls(), call.at());
  if (call.calls() >= limit) counted_.at_limit.Start(call.at());
  if (request.priority != 0) {
    counted_.admitted_by_class[request.priority].fetch_add(request.cost, std::memory_order_relaxed);
  }
  if (request.cost > 1) {
    counted_.units_beyond_first.fetch_add(request.cost - 1, std::memory_order_relaxed);
  }
  const std::int64_t policy_ns =
      DeadlineNs(call.at(), in_force_.call_deadline_ns.load(std::memory_order_seq_cst));
  return {Permit::Key(), this,
          HeldCall{.admitted_ns = call.at().ns,
                   .deadline_ns = std::min(policy_ns, request.deadline.lease_clock_ns()),
                   .cost = request.cost,
                   .tenant = request.tenant,
                   .watched = Watch(call.at(), request.site)}};
}

// A costly call may find the limit too low before that is reached to the last unit; until the next
// call ends this is time at the limit. A class that has had its share says nothing of the limit.
void Limiter::NoteNoRoom(const CallRequest& request) {
  if (request.cost > 1 && shares_[request.priority].whole() && !counted_.at_limit.running() &&
      counted_.in_flight.calls() > 0) {
    counted_.at_limit.Start(clock_.Glance());
  }
}

Admission Limiter::RefuseOrObserve(const CallRequest& request, Rejection why) {
  if (in_force_.observing.load(std::memory_order_relaxed)) {
    const std::optional<InFlight::Entered> call =
        counted_.in_flight.TryEnter(clock_.Glance(), request.cost, kCallsMax);
    if (call.has_value()) return Observe(request, *call, why);
  }
  return Refuse(why, request.priority, request.cost);
}

// That the mode is loaded after the call is counted matters as with the words: when SetObserve()
// has returned false, every call that was admitted before is in flight for Measure().
Admission Limiter::Observe(const CallRequest& request, const InFlight::Entered& call,
                           Rejection why) {
  if (!Observes(call)) return RollBack(request, why);
  return AdmitObserved(request, call, why);
}

bool Limiter::Observes(const InFlight::Entered& call) const {
  return in_force_.observing.load(std::memory_order_seq_cst) &&
         !in_force_.draining.load(std::memory_order_seq_cst) && call.calls() <= kCallsMax;
}

Admission Limiter::AdmitObserved(const CallRequest& request, const InFlight::Entered& call,
                                 Rejection why) {
  counted_.rejected.Count(ReasonOf(why), request.priority, request.cost);
  counted_.would_reject.Count(ReasonOf(why), request.priority, request.cost);
  if (request.tenant != 0) tenants_->Enter(request.tenant, request.cost);
  return Admit(request, call, in_force_.words.LimitFor(call));
}

Admission Limiter::RollBack(const CallRequest& request, Rejection why) {
  const Rejection rejection = Refuse(why, request.priority, request.cost);
  Leave(request.cost);
  return rejection;
}

Rejection Limiter::Refuse(Rejection why, std::uint32_t priority, Calls cost) {
  if (in_force_.draining.load(std::memory_order_relaxed)) why = Rejection::kDraining;
  counted_.rejected.Count(ReasonOf(why), priority, cost);
  return why;
}

void Limiter::RaisePeak(Calls calls, Instant at) {
  Calls seen = counted_.peak.load(std::memory_order_relaxed);
  while (calls > seen &&
         !counted_.peak.compare_exchange_weak(seen, calls, std::memory_order_relaxed)) {
  }
  if (calls > seen) counted_.in_flight_max.Note(at, calls);
}

// The sample is counted before the call leaves: in cells that nobody waits for, but the leaving
// releases what was written before it. So whoever finds the call gone finds its sample, and the
// limiter, which the last call may delete, is not touched afterwards.
void Limiter::End(Outcome outcome, const HeldCall& call) {
  const Instant at = clock_.At(clock_.Look());
  counted_.counters.Count(outcome, at.ns - call.admitted_ns, call.cost);
  if (at.ns > call.deadline_ns) [[unlikely]] {
    counted_.counters.CountOverrun(call.cost);
  }
  if (counted_.at_limit.running()) [[unlikely]] {
    NoteEndAtLimit(at, call.cost);
  }
  if (IsDue(at)) [[unlikely]] {
    due_work_->Run(*this, at);  // this call is still in flight, so the limiter stays
  }
  LeaveTenant(call.tenant, call.cost);
  if (call.watched != 0) watch_->Leave(call.watched);
  counted_.time_in_flight.Leave(at, call.cost);
  Leave(call.cost);
}

void Limiter::EndLeaked(const HeldCall& call) {
  counted_.counters.CountLeaked(call.cost);
  End(Outcome::kIgnored, call);
}

void Limiter::NoteEndAtLimit(Instant at, Calls cost) {
  counted_.at_limit.Stop(at);
  const Calls left = counted_.in_flight.calls() - cost;
  if (left > 0 && left >= in_force_.words.LimitAt(at)) counted_.at_limit.Start(at);
}

// The queue is looked up before: once the call has left, another thread may delete the limiter. The
// queue is then without an owner or somebody else's, but it is still there.
void Limiter::Leave(Calls cost) {
  PermitQueue* const queue = queue_;
  const InFlight::Left left = counted_.in_flight.Leave(cost);
  if (left.last_of_orphan) [[unlikely]] {
    delete this;
  } else if (left.waiting && queue != nullptr) [[unlikely]] {
    Reach(SyncPoint::kLeft);
    queue->Wake();
  }
}

}  // namespace plimsoll::internal
