#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "agent/src/admission_words.h"
#include "agent/src/call_counters.h"
#include "agent/src/fork_registry.h"
#include "agent/src/grant_port.h"
#include "agent/src/in_flight.h"
#include "agent/src/window_cutter.h"
#include "plimsoll/agent/bulkhead.h"
#include "plimsoll/agent/permit.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// How a permit ended.
enum class Ending { kSucceeded, kDropped, kIgnored, kLeaked };

// Admits calls up to the limit in force and counts what becomes of them. While it observes, it
// admits those above the limit too, up to kCallsMax in flight, and counts them as refused. Lives on
// the heap: the owner gives it up with Abandon(), and the last permit, if there is one, deletes it
// then.
//
// TryAcquire(), End() and the readings are thread-safe, wait for nothing and allocate nothing. So
// is StopAdmitting(). The rest of GrantPort is confined to the agent's thread.
class Limiter final : public GrantPort, private ForkObserver {
 public:
  // `clock` must outlive the last permit. Admits nothing before the first grant.
  static Limiter* Make(const Clock& clock) { return new Limiter(clock); }

  // The owner's last call: admits nothing any more, and deletes the limiter as soon as no permit
  // needs it. TryAcquire() must not be called at the same time or later.
  void Abandon();

  Admission TryAcquire();
  // Ends a call that TryAcquire() admitted. Nothing of the limiter may be touched afterwards.
  void End(Ending ending, std::int64_t admitted_ns, std::int64_t deadline_ns);

  // A grant has ever been installed and not been taken back.
  bool granted() const { return granted_.load(std::memory_order_relaxed); }
  GrantStage stage() const;
  Calls limit() const { return words_.LimitAt(clock_.Now()); }
  Calls in_flight() const { return in_flight_.calls(); }
  const Clock& clock() const { return clock_; }
  BulkheadStats Stats() const;

  // GrantPort:
  void Install(const StepFunction& function, Instant now) override;
  void SetObserve(bool observe) override;
  void StopAdmitting() override;
  Measurement Measure(Instant now, absl::Duration interval) override;

 private:
  explicit Limiter(const Clock& clock);
  ~Limiter() override = default;

  // ForkObserver:
  void InForkedChild() override { StopAdmitting(); }

  Admission TryBeyondLimit();
  Admission AdmitBeyondLimit(const InFlight::Entered& call);
  Rejection Refuse();
  Admission RollBack(Instant entered);
  void RaisePeak(Calls calls);
  void NoteEndAtLimit(Instant at);

  void StoreWords(Instant at);
  void CloseWindow(Instant at);
  void TakePeak();

  // Fixed at construction.
  const Clock& clock_;

  // Written by every call.
  alignas(64) InFlight in_flight_;
  std::atomic<Calls> peak_{0};
  TimeAtLimit at_limit_;

  // Read by every call, written at grants.
  alignas(64) AdmissionWords words_;
  std::atomic<std::int64_t> call_deadline_ns_{kInfiniteFuture.ns};
  std::atomic<bool> draining_{false};
  std::atomic<bool> observing_{false};
  std::atomic<bool> granted_{false};
  // For stage(): the ends of the function's steps.
  std::atomic<std::int64_t> limit_end_ns_{0};
  std::atomic<std::int64_t> base_end_ns_{0};
  std::atomic<std::int64_t> stepped_down_{0};

  // Written by refused calls.
  alignas(64) RejectCounters rejected_;        // those that were only observed as well
  std::atomic<std::int64_t> would_reject_{0};  // of the rejected, those that were admitted

  // Written at the end of calls.
  alignas(64) CallCounters counters_;

  // Confined to the agent's thread.
  alignas(64) StepFunction function_;
  bool steps_ended_ = true;  // the words hold the last step: none is left to end
  Instant next_end_;         // else: of the step that the first word holds
  WindowCutter cutter_;
  std::vector<Window> windows_;  // closed, not yet measured
  Calls window_peak_ = 0;
  Calls measured_peak_ = 0;
};

}  // namespace plimsoll::internal
