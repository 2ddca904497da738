#include "agent/src/limiter.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "agent/src/lingering.h"
#include "agent/src/sync_point.h"
#include "agent/src/timer_thread.h"
#include "plimsoll/core/check.h"

namespace plimsoll::internal {
namespace {

// A measurement comes with every sync. Should it not, what is oldest is forgotten.
constexpr std::size_t kWindowsKept = 64;

std::int64_t DeadlineNs(Instant admitted, std::int64_t call_deadline_ns) {
  return call_deadline_ns > kInfiniteFuture.ns - admitted.ns ? kInfiniteFuture.ns
                                                             : admitted.ns + call_deadline_ns;
}

std::int64_t InfinityAsFutureNs(absl::Duration duration) {
  return duration == absl::InfiniteDuration() ? kInfiniteFuture.ns
                                              : absl::ToInt64Nanoseconds(duration);
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
      cutter_(clock.Now()) {
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
  rejected_.Count(ReasonOf(why), request.priority, request.cost);
}

void Limiter::Abandon() {
  UnregisterForkObserver(*this);
  Drain();
  if (in_flight_.Orphan()) Retire();
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
  if (in_flight_.calls() >= words_.Highest()) [[unlikely]] {
    return RefuseOrObserve({.site = site}, Rejection::kLimit);
  }
  const Deadline deadline = Deadline::Current();
  if (!deadline.never()) [[unlikely]] {
    return Try({.site = site, .deadline = deadline});
  }
  const Clock::Reading reading = clock_.Look();
  const InFlight::Entered call = in_flight_.Enter([&] { return clock_.At(reading); });
  const Instant at = call.at();
  const Calls limit = words_.LimitFor(call);
  if (call.calls() > limit) [[unlikely]] {
    return Observe({.site = site}, call, Rejection::kLimit);
  }
  if (call.waiting() && Overtakes(call, 0)) [[unlikely]] {
    return Observe({.site = site}, call, Rejection::kLimit);
  }
  if (call.calls() > peak_.load(std::memory_order_relaxed)) [[unlikely]] {
    RaisePeak(call.calls(), at);
  }
  if (call.calls() == limit) [[unlikely]] {
    at_limit_.Start(at);
  }
  time_in_flight_.Enter(at, 1);
  return {Permit::Key(), this,
          HeldCall{.admitted_ns = at.ns,
                   .deadline_ns = DeadlineNs(at, call_deadline_ns_.load(std::memory_order_seq_cst)),
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
  if (in_flight_.calls() > MostFor(request, words_.Highest()) - request.cost) {
    return {.why = Rejection::kLimit};
  }
  const Instant at = clock_.Glance();
  if (!InTime(request, at)) return {.why = Rejection::kDeadline};
  const Calls expected = words_.LimitAt(at);
  if (!EnterTenant(request, expected)) return {.why = Rejection::kTenant};
  Attempt attempt;
  attempt.call = in_flight_.TryEnter(at, request.cost, MostFor(request, expected));
  if (attempt.call.has_value()) attempt.limit = words_.LimitFor(*attempt.call);
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
  return left >= service_time_.ns() || in_flight_.calls() == 0;
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
  time_in_flight_.Enter(call.at(), request.cost);
  RaisePeak(call.calls(), call.at());
  if (call.calls() >= limit) at_limit_.Start(call.at());
  if (request.priority != 0) {
    admitted_by_class_[request.priority].fetch_add(request.cost, std::memory_order_relaxed);
  }
  if (request.cost > 1) {
    units_beyond_first_.fetch_add(request.cost - 1, std::memory_order_relaxed);
  }
  const std::int64_t policy_ns =
      DeadlineNs(call.at(), call_deadline_ns_.load(std::memory_order_seq_cst));
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
  if (request.cost > 1 && shares_[request.priority].whole() && !at_limit_.running() &&
      in_flight_.calls() > 0) {
    at_limit_.Start(clock_.Glance());
  }
}

Admission Limiter::RefuseOrObserve(const CallRequest& request, Rejection why) {
  if (observing_.load(std::memory_order_relaxed)) {
    const std::optional<InFlight::Entered> call =
        in_flight_.TryEnter(clock_.Glance(), request.cost, kCallsMax);
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
  return observing_.load(std::memory_order_seq_cst) && !draining_.load(std::memory_order_seq_cst) &&
         call.calls() <= kCallsMax;
}

Admission Limiter::AdmitObserved(const CallRequest& request, const InFlight::Entered& call,
                                 Rejection why) {
  rejected_.Count(ReasonOf(why), request.priority, request.cost);
  would_reject_.Count(ReasonOf(why), request.priority, request.cost);
  if (request.tenant != 0) tenants_->Enter(request.tenant, request.cost);
  return Admit(request, call, words_.LimitFor(call));
}

Admission Limiter::RollBack(const CallRequest& request, Rejection why) {
  const Rejection rejection = Refuse(why, request.priority, request.cost);
  Leave(request.cost);
  return rejection;
}

Rejection Limiter::Refuse(Rejection why, std::uint32_t priority, Calls cost) {
  if (draining_.load(std::memory_order_relaxed)) why = Rejection::kDraining;
  rejected_.Count(ReasonOf(why), priority, cost);
  return why;
}

void Limiter::RaisePeak(Calls calls, Instant at) {
  Calls seen = peak_.load(std::memory_order_relaxed);
  while (calls > seen && !peak_.compare_exchange_weak(seen, calls, std::memory_order_relaxed)) {
  }
  if (calls > seen) in_flight_max_.Note(at, calls);
}

// A success, which is the rule, leaves first and is counted then: what was written before the
// atomic operation the processor would have to wait for, together with all the arithmetic that led
// to it. Meanwhile the thread lingers, so that the limiter stays where it is even if this was its
// last call. What must be seen with the call still in flight is done in order.
void Limiter::End(Outcome outcome, const HeldCall& call) {
  const int stripe = ThreadStripe();
  if (outcome != Outcome::kSuccess || stripe == kNoStripe || at_limit_.running() ||
      due_work_ != nullptr) [[unlikely]] {
    return EndInOrder(outcome, call, clock_.Glance());
  }
  LeaveTenant(call.tenant, call.cost);
  if (call.watched != 0) watch_->Leave(call.watched);
  PermitQueue* const queue = queue_;
  const Calls cost = call.cost;
  const Lingering lingering(stripe, this);
  const Clock::Reading reading = clock_.Look();
  const InFlight::Left left = in_flight_.Leave(cost);
  const Instant at = clock_.At(reading);
  counters_.CountSuccess(stripe, at.ns - call.admitted_ns, cost);
  if (at.ns > call.deadline_ns) [[unlikely]] {
    counters_.CountOverrun(cost);
  }
  time_in_flight_.Leave(at, cost);
  lingering.End();
  AfterLeaving(left, queue);
}

void Limiter::EndInOrder(Outcome outcome, const HeldCall& call, Instant at) {
  counters_.Count(outcome, at.ns - call.admitted_ns, call.cost);
  if (at.ns > call.deadline_ns) [[unlikely]] {
    counters_.CountOverrun(call.cost);
  }
  if (at_limit_.running()) NoteEndAtLimit(at, call.cost);
  if (IsDue(at)) [[unlikely]] {
    due_work_->Run(*this, at);  // this call is still in flight, so the limiter stays
  }
  LeaveTenant(call.tenant, call.cost);
  if (call.watched != 0) watch_->Leave(call.watched);
  time_in_flight_.Leave(at, call.cost);
  Leave(call.cost);
}

void Limiter::EndLeaked(const HeldCall& call) {
  counters_.CountLeaked(call.cost);
  End(Outcome::kIgnored, call);
}

void Limiter::NoteEndAtLimit(Instant at, Calls cost) {
  at_limit_.Stop(at);
  const Calls left = in_flight_.calls() - cost;
  if (left > 0 && left >= words_.LimitAt(at)) at_limit_.Start(at);
}

// The queue is looked up before: once the call has left, another thread may delete the limiter. The
// queue is then without an owner or somebody else's, but it is still there.
void Limiter::Leave(Calls cost) {
  PermitQueue* const queue = queue_;
  AfterLeaving(in_flight_.Leave(cost), queue);
}

void Limiter::AfterLeaving(const InFlight::Left& left, PermitQueue* queue) {
  if (left.last_of_orphan) [[unlikely]] {
    Retire();
  } else if (left.waiting && queue != nullptr) [[unlikely]] {
    Reach(SyncPoint::kLeft);
    queue->Wake();
  }
}

// Deletes this limiter, and those that could not be deleted before. One at which a thread lingers,
// which is a matter of nanoseconds, is left to the next that retires.
void Limiter::Retire() {
  static std::atomic<Limiter*> retired{nullptr};
  const auto keep = [](Limiter* limiter) {
    limiter->next_retired_ = retired.load(std::memory_order_relaxed);
    while (!retired.compare_exchange_weak(limiter->next_retired_, limiter,
                                          std::memory_order_release, std::memory_order_relaxed)) {
    }
  };
  Limiter* earlier = retired.exchange(nullptr, std::memory_order_acquire);
  for (Limiter* limiter = this; limiter != nullptr;) {
    if (Lingering::At(limiter)) {
      keep(limiter);
    } else {
      delete limiter;
    }
    limiter = earlier;
    if (earlier != nullptr) earlier = earlier->next_retired_;
  }
}

void Limiter::Install(const StepFunction& function, Instant now) {
  const Instant at = std::max(now, clock_.Now());
  CloseWindow(at);
  if (!steps_ended_ && at >= next_end_) journal_.NoteStep(function_.InForce(at));
  function_ = function;
  call_deadline_ns_.store(InfinityAsFutureNs(function.call_deadline), std::memory_order_seq_cst);
  StoreWords(at);
  limit_end_ns_.store(function.limit_end.ns, std::memory_order_relaxed);
  base_end_ns_.store(function.base_end.ns, std::memory_order_relaxed);
  granted_.store(function.stamp > GrantStamp(), std::memory_order_relaxed);
  journal_.NoteGrant(function, at);
  WakeWaiting();
}

// The words first, then the calls in flight: whoever was admitted by the older words is counted by
// every reading from here on, until it ends.
void Limiter::StoreWords(Instant at) {
  words_.Store(function_, at);
  // StopAdmitting() may have come in between, from another thread. It raises the flag before it
  // clears the words, so one of the two clears last.
  if (draining_.load(std::memory_order_seq_cst)) words_.StoreZero();
  steps_ended_ = at >= function_.limit_end && at >= function_.base_end;
  next_end_ = at < function_.limit_end ? function_.limit_end : function_.base_end;

  const Calls calls = in_flight_.Read().calls;
  if (calls > 0 && calls >= words_.LimitAt(at)) {
    at_limit_.Start(at);
  } else {
    at_limit_.Stop(at);
  }
}

void Limiter::SetObserve(bool observe) {
  observing_.store(observe, std::memory_order_seq_cst);
  WakeWaiting();
}

void Limiter::Stop(PermitQueue::Deliver how) {
  draining_.store(true, std::memory_order_seq_cst);
  words_.StoreZero();
  if (queue_ != nullptr) queue_->Close(how);
}

Measurement Limiter::Measure(Instant now, absl::Duration interval) {
  const Instant at = std::max(now, clock_.Now());
  if (!steps_ended_ && at >= next_end_) {
    CloseWindow(at);
    StoreWords(at);
    stepped_down_.fetch_add(1, std::memory_order_relaxed);
    journal_.NoteStep(function_.InForce(at));
  } else if (at - cutter_.opened() >= interval) {
    CloseWindow(at);
  }
  TakePeak(at);
  Measurement measured;
  measured.in_flight = in_flight_.Read().calls;
  measured.in_flight_max = std::max(std::exchange(measured_peak_, 0), measured.in_flight);
  if (queue_ != nullptr) {
    measured.waiting =
        static_cast<Calls>(std::min<std::int64_t>(queue_->stats().waiting, kCallsMax));
  }
  measured.windows = std::exchange(windows_, {});
  return measured;
}

void Limiter::CloseWindow(Instant at) {
  if (at <= cutter_.opened()) return;  // nothing was measured yet
  TakePeak(at);
  if (windows_.size() == kWindowsKept) windows_.erase(windows_.begin());
  windows_.push_back(cutter_.Cut({counters_, in_flight_, time_in_flight_, rejected_, at_limit_},
                                 function_.stamp, std::exchange(window_peak_, 0), at));
  service_time_.Learn(windows_.back());
}

// The peak is taken before the calls in flight are read. So an admission that is not in the peak
// taken is in the reading, or in the next peak.
void Limiter::TakePeak(Instant at) {
  const Calls peak = peak_.exchange(0, std::memory_order_seq_cst);
  const Calls calls = in_flight_.Read().calls;
  RaisePeak(calls, at);
  window_peak_ = std::max({window_peak_, peak, calls});
  measured_peak_ = std::max({measured_peak_, peak, calls});
}

std::vector<OverduePermit> Limiter::TakeOverdue(Instant now) {
  return watch_ == nullptr ? std::vector<OverduePermit>() : watch_->TakeOverdue(now);
}

GrantStage Limiter::stage() const {
  if (!granted()) return GrantStage::kNone;
  const std::int64_t now = clock_.Now().ns;
  if (now < limit_end_ns_.load(std::memory_order_relaxed)) return GrantStage::kLease;
  if (now < base_end_ns_.load(std::memory_order_relaxed)) return GrantStage::kBase;
  return GrantStage::kReserve;
}

}  // namespace plimsoll::internal
