#include "agent/src/limiter.h"

#include <algorithm>
#include <utility>

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

}  // namespace

Limiter::Limiter(const Clock& clock) : clock_(clock), cutter_(clock.Now()) {
  RegisterForkObserver(*this);
}

void Limiter::Abandon() {
  UnregisterForkObserver(*this);
  StopAdmitting();
  if (in_flight_.Orphan()) delete this;
}

// The clock is read before the call is counted, and the reading serves three purposes: is the step
// still in force, when is the call due, how long did it take. Should the thread be held up after
// the reading, then it is as if it had been held up between admission and sending: its deadline
// counts from the reading, so it lies within what the controller holds back for calls admitted at
// the end of the step, and permits are checked against their deadline before sending. That the
// words are loaded after the call is counted is what matters (rule A3); the agent's thread stores
// them anew when a step has ended, before it reports the calls in flight.
Admission Limiter::TryAcquire() {
  if (in_flight_.calls() >= words_.Highest()) return TryBeyondLimit();
  const Instant at = clock_.Now();
  const InFlight::Entered call = in_flight_.Enter(at);
  const Calls limit = words_.LimitFor(call);
  if (call.calls() > limit) [[unlikely]] {
    return AdmitBeyondLimit(call);
  }
  if (call.calls() > peak_.load(std::memory_order_relaxed)) [[unlikely]] {
    RaisePeak(call.calls());
  }
  if (call.calls() == limit) [[unlikely]] {
    at_limit_.Start(at);
  }
  return Permit(this, at.ns, DeadlineNs(at, call_deadline_ns_.load(std::memory_order_seq_cst)));
}

Admission Limiter::TryBeyondLimit() {
  if (!observing_.load(std::memory_order_relaxed)) return Refuse();
  return AdmitBeyondLimit(in_flight_.Enter(clock_.Now()));
}

// That the mode is loaded after the call is counted matters as with the words: when SetObserve()
// has returned false, every call that was admitted before is in flight for Measure().
Admission Limiter::AdmitBeyondLimit(const InFlight::Entered& call) {
  const bool observing = observing_.load(std::memory_order_seq_cst) &&
                         !draining_.load(std::memory_order_seq_cst) && call.calls() <= kCallsMax;
  if (!observing) return RollBack(call.at());
  rejected_.Count(RejectReason::kLimit);
  would_reject_.fetch_add(1, std::memory_order_relaxed);
  RaisePeak(call.calls());
  at_limit_.Start(call.at());
  return Permit(this, call.at().ns,
                DeadlineNs(call.at(), call_deadline_ns_.load(std::memory_order_seq_cst)));
}

Rejection Limiter::Refuse() {
  if (draining_.load(std::memory_order_relaxed)) {
    rejected_.Count(RejectReason::kDraining);
    return Rejection::kDraining;
  }
  rejected_.Count(RejectReason::kLimit);
  return Rejection::kLimit;
}

Admission Limiter::RollBack(Instant entered) {
  const Rejection rejection = Refuse();
  if (in_flight_.Leave(entered).last_of_orphan) delete this;
  return rejection;
}

void Limiter::RaisePeak(Calls calls) {
  Calls seen = peak_.load(std::memory_order_relaxed);
  while (calls > seen && !peak_.compare_exchange_weak(seen, calls, std::memory_order_relaxed)) {
  }
}

void Limiter::End(Ending ending, std::int64_t admitted_ns, std::int64_t deadline_ns) {
  const Instant at = clock_.Now();
  const std::int64_t latency_ns = at.ns - admitted_ns;
  switch (ending) {
    case Ending::kSucceeded:
      counters_.CountSuccess(latency_ns);
      break;
    case Ending::kDropped:
      counters_.CountDrop(latency_ns);
      break;
    case Ending::kLeaked:
      counters_.CountLeaked();
      counters_.CountIgnored();
      break;
    case Ending::kIgnored:
      counters_.CountIgnored();
      break;
  }
  if (at.ns > deadline_ns) [[unlikely]] {
    counters_.CountOverrun();
  }
  if (at_limit_.running()) [[unlikely]] {
    NoteEndAtLimit(at);
  }
  if (in_flight_.Leave(at).last_of_orphan) [[unlikely]] {
    delete this;
  }
}

void Limiter::NoteEndAtLimit(Instant at) {
  at_limit_.Stop(at);
  const Calls left = in_flight_.calls() - 1;
  if (left > 0 && left >= words_.LimitAt(at)) at_limit_.Start(at);
}

void Limiter::Install(const StepFunction& function, Instant now) {
  const Instant at = std::max(now, clock_.Now());
  CloseWindow(at);
  function_ = function;
  call_deadline_ns_.store(InfinityAsFutureNs(function.call_deadline), std::memory_order_seq_cst);
  StoreWords(at);
  limit_end_ns_.store(function.limit_end.ns, std::memory_order_relaxed);
  base_end_ns_.store(function.base_end.ns, std::memory_order_relaxed);
  granted_.store(function.stamp > GrantStamp(), std::memory_order_relaxed);
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

void Limiter::SetObserve(bool observe) { observing_.store(observe, std::memory_order_seq_cst); }

void Limiter::StopAdmitting() {
  draining_.store(true, std::memory_order_seq_cst);
  words_.StoreZero();
}

Measurement Limiter::Measure(Instant now, absl::Duration interval) {
  const Instant at = std::max(now, clock_.Now());
  if (!steps_ended_ && at >= next_end_) {
    CloseWindow(at);
    StoreWords(at);
    stepped_down_.fetch_add(1, std::memory_order_relaxed);
  } else if (at - cutter_.opened() >= interval) {
    CloseWindow(at);
  }
  TakePeak();
  Measurement measured;
  measured.in_flight = in_flight_.Read().calls;
  measured.in_flight_max = std::max(std::exchange(measured_peak_, 0), measured.in_flight);
  measured.windows = std::exchange(windows_, {});
  return measured;
}

void Limiter::CloseWindow(Instant at) {
  if (at <= cutter_.opened()) return;  // nothing was measured yet
  TakePeak();
  if (windows_.size() == kWindowsKept) windows_.erase(windows_.begin());
  windows_.push_back(cutter_.Cut({counters_, in_flight_, rejected_, at_limit_}, function_.stamp,
                                 std::exchange(window_peak_, 0), at));
}

// The peak is taken before the calls in flight are read. So an admission that is not in the peak
// taken is in the reading, or in the next peak.
void Limiter::TakePeak() {
  const Calls peak = peak_.exchange(0, std::memory_order_seq_cst);
  const Calls calls = in_flight_.Read().calls;
  RaisePeak(calls);
  window_peak_ = std::max({window_peak_, peak, calls});
  measured_peak_ = std::max({measured_peak_, peak, calls});
}

GrantStage Limiter::stage() const {
  if (!granted()) return GrantStage::kNone;
  const std::int64_t now = clock_.Now().ns;
  if (now < limit_end_ns_.load(std::memory_order_relaxed)) return GrantStage::kLease;
  if (now < base_end_ns_.load(std::memory_order_relaxed)) return GrantStage::kBase;
  return GrantStage::kReserve;
}

BulkheadStats Limiter::Stats() const {
  BulkheadStats stats;
  stats.limit = limit();
  stats.stage = stage();
  stats.stepped_down = stepped_down_.load(std::memory_order_relaxed);
  for (std::size_t bucket = 0; bucket < LatencyHistogram::kBuckets; ++bucket) {
    stats.succeeded += static_cast<std::int64_t>(counters_.succeeded(bucket));
    stats.dropped += static_cast<std::int64_t>(counters_.dropped(bucket));
  }
  stats.ignored = counters_.ignored();
  stats.leaked = counters_.leaked();
  stats.overran = counters_.overran();
  stats.observing = observing_.load(std::memory_order_relaxed);
  stats.would_reject = would_reject_.load(std::memory_order_relaxed);
  const std::int64_t beyond = rejected_[static_cast<std::size_t>(RejectReason::kLimit)];
  stats.rejected_limit = std::max<std::int64_t>(0, beyond - stats.would_reject);
  stats.rejected_draining = rejected_[static_cast<std::size_t>(RejectReason::kDraining)];
  stats.in_flight = in_flight();
  stats.admitted = stats.succeeded + stats.dropped + stats.ignored + stats.in_flight;
  return stats;
}

}  // namespace plimsoll::internal
