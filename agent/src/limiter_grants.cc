// What a limiter does for the agent's thread: grants, and what is measured under them.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "agent/src/limiter.h"

namespace plimsoll::internal {
namespace {

// A measurement comes with every sync. Should it not, what is oldest is forgotten.
constexpr std::size_t kWindowsKept = 64;

std::int64_t InfinityAsFutureNs(absl::Duration duration) {
  return duration == absl::InfiniteDuration() ? kInfiniteFuture.ns
                                              : absl::ToInt64Nanoseconds(duration);
}

}  // namespace

void Limiter::Install(const StepFunction& function, Instant now) {
  const Instant at = std::max(now, clock_.Now());
  CloseWindow(at);
  if (!measuring_.steps_ended && at >= measuring_.next_end) {
    measuring_.journal.NoteStep(measuring_.function.InForce(at));
  }
  measuring_.function = function;
  in_force_.call_deadline_ns.store(InfinityAsFutureNs(function.call_deadline),
                                   std::memory_order_seq_cst);
  StoreWords(at);
  in_force_.limit_end_ns.store(function.limit_end.ns, std::memory_order_relaxed);
  in_force_.base_end_ns.store(function.base_end.ns, std::memory_order_relaxed);
  in_force_.granted.store(function.stamp > GrantStamp(), std::memory_order_relaxed);
  measuring_.journal.NoteGrant(function, at);
  WakeWaiting();
}

// The words first, then the calls in flight: whoever was admitted by the older words is counted by
// every reading from here on, until it ends.
void Limiter::StoreWords(Instant at) {
  in_force_.words.Store(measuring_.function, at);
  // StopAdmitting() may have come in between, from another thread. It raises the flag before it
  // clears the words, so one of the two clears last.
  if (in_force_.draining.load(std::memory_order_seq_cst)) in_force_.words.StoreZero();
  measuring_.steps_ended =
      at >= measuring_.function.limit_end && at >= measuring_.function.base_end;
  measuring_.next_end = at < measuring_.function.limit_end ? measuring_.function.limit_end
                                                           : measuring_.function.base_end;

  const Calls calls = counted_.in_flight.Read().calls;
  if (calls > 0 && calls >= in_force_.words.LimitAt(at)) {
    counted_.at_limit.Start(at);
  } else {
    counted_.at_limit.Stop(at);
  }
}

void Limiter::SetObserve(bool observe) {
  in_force_.observing.store(observe, std::memory_order_seq_cst);
  WakeWaiting();
}

void Limiter::Stop(PermitQueue::Deliver how) {
  in_force_.draining.store(true, std::memory_order_seq_cst);
  in_force_.words.StoreZero();
  if (queue_ != nullptr) queue_->Close(how);
}

Measurement Limiter::Measure(Instant now, absl::Duration interval) {
  const Instant at = std::max(now, clock_.Now());
  if (!measuring_.steps_ended && at >= measuring_.next_end) {
    CloseWindow(at);
    StoreWords(at);
    in_force_.stepped_down.fetch_add(1, std::memory_order_relaxed);
    measuring_.journal.NoteStep(measuring_.function.InForce(at));
  } else if (at - measuring_.cutter.opened() >= interval) {
    CloseWindow(at);
  }
  TakePeak(at);
  Measurement measured;
  measured.in_flight = counted_.in_flight.Read().calls;
  measured.in_flight_max = std::max(std::exchange(measuring_.measured_peak, 0), measured.in_flight);
  if (queue_ != nullptr) {
    measured.waiting =
        static_cast<Calls>(std::min<std::int64_t>(queue_->stats().waiting, kCallsMax));
  }
  measured.windows = std::exchange(measuring_.windows, {});
  return measured;
}

void Limiter::CloseWindow(Instant at) {
  if (at <= measuring_.cutter.opened()) return;  // nothing was measured yet
  TakePeak(at);
  if (measuring_.windows.size() == kWindowsKept)
    measuring_.windows.erase(measuring_.windows.begin());
  measuring_.windows.push_back(measuring_.cutter.Cut(
      {counted_.counters, counted_.in_flight, counted_.time_in_flight, counted_.rejected,
       counted_.at_limit},
      measuring_.function.stamp, std::exchange(measuring_.window_peak, 0), at));
  in_force_.service_time.Learn(measuring_.windows.back());
}

// The peak is taken before the calls in flight are read. So an admission that is not in the peak
// taken is in the reading, or in the next peak.
void Limiter::TakePeak(Instant at) {
  const Calls peak = counted_.peak.exchange(0, std::memory_order_seq_cst);
  const Calls calls = counted_.in_flight.Read().calls;
  RaisePeak(calls, at);
  measuring_.window_peak = std::max({measuring_.window_peak, peak, calls});
  measuring_.measured_peak = std::max({measuring_.measured_peak, peak, calls});
}

std::vector<OverduePermit> Limiter::TakeOverdue(Instant now) {
  return watch_ == nullptr ? std::vector<OverduePermit>() : watch_->TakeOverdue(now);
}

GrantStage Limiter::stage() const {
  if (!granted()) return GrantStage::kNone;
  const std::int64_t now = clock_.Now().ns;
  if (now < in_force_.limit_end_ns.load(std::memory_order_relaxed)) return GrantStage::kLease;
  if (now < in_force_.base_end_ns.load(std::memory_order_relaxed)) return GrantStage::kBase;
  return GrantStage::kReserve;
}

}  // namespace plimsoll::internal
