#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "agent/src/admission_words.h"
#include "agent/src/call_counters.h"
#include "agent/src/call_request.h"
#include "agent/src/due_work.h"
#include "agent/src/fork_registry.h"
#include "agent/src/grant_port.h"
#include "agent/src/in_flight.h"
#include "agent/src/limit_journal.h"
#include "agent/src/permit_queue.h"
#include "agent/src/permit_watch.h"
#include "agent/src/queue_owner.h"
#include "agent/src/rolling_max.h"
#include "agent/src/service_time.h"
#include "agent/src/share.h"
#include "agent/src/tenant_table.h"
#include "agent/src/time_in_flight.h"
#include "agent/src/timers.h"
#include "agent/src/window_cutter.h"
#include "plimsoll/agent/bulkhead.h"
#include "plimsoll/agent/bulkhead_options.h"
#include "plimsoll/agent/outcome.h"
#include "plimsoll/agent/permit.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// Admits calls up to the limit in force and counts what becomes of them. While it observes, it
// admits those it would refuse too, up to kCallsMax in flight, and counts them as refused. Lives on
// the heap: the owner gives it up with Abandon(), and the last permit, if there is one, deletes it
// then.
//
// TryAcquire(), End() and the readings are thread-safe, wait for nothing and allocate nothing. So
// is StopAdmitting(). The rest of GrantPort is confined to the agent's thread, or where there is
// due work, to the thread that holds its lock. While callers wait, End(), a TryAcquire() that finds
// room, and what changes the limit also lock the queue.
class Limiter final : public GrantPort, private ForkObserver, private QueueOwner {
 public:
  // `clock` must outlive the last permit, and `timers` that and the last callback; null: those of
  // the process, which know the real clock only. Requires valid options. Admits nothing before the
  // first grant.
  static Limiter* Make(const Clock& clock, const BulkheadOptions& options = {},
                       Timers* timers = nullptr);

  // From now on the first call that ends at SetDue() or later runs `work`. Once, before the first
  // call; for limiters that no agent's thread sees to.
  void SetDueWork(std::unique_ptr<DueWork> work) { due_work_ = std::move(work); }
  // Requires due work.
  void SetDue(Instant at) { due_ns_.store(at.ns, std::memory_order_relaxed); }
  bool IsDue(Instant at) const { return at.ns >= due_ns_.load(std::memory_order_relaxed); }

  // The owner's last call: admits nothing any more, and deletes the limiter as soon as no permit
  // needs it. TryAcquire() must not be called at the same time or later.
  void Abandon();

  // A call of one unit and the first class: the shortest way. Shortest of all is a refusal, which
  // is what there is most of when there is too much.
  Admission TryAcquire(CallSite site = CallSite::Here()) {
    if (in_flight_.calls() >= words_.Highest() && !observing_.load(std::memory_order_relaxed) &&
        !draining_.load(std::memory_order_relaxed)) {
      rejected_.CountPlain();
      return Rejection::kLimit;
    }
    return EnterPlain(site);
  }
  Admission TryAcquire(const CallOptions& options, CallSite site = CallSite::Here());
  // The two halves of the latter. Aborts if an option is out of range.
  CallRequest RequestOf(const CallOptions& options, CallSite site) const;
  Admission Try(const CallRequest& request);

  // As TryAcquire(), and waits for room if there is a queue and the options say so.
  Admission Acquire(const CallOptions& options, CallSite site);
  void AcquireAsync(const CallOptions& options, AsyncTicket::Callback callback, CallSite site);
  // What Acquire() does before it waits; nothing if it has to.
  std::optional<Admission> TryBeforeWaiting(const CallOptions& options, CallSite site);
  // Null if nobody ever waits here. Never freed.
  PermitQueue* queue() const { return queue_; }

  // Ends a call that was admitted. Nothing of the limiter may be touched afterwards.
  void End(Outcome outcome, const HeldCall& call);
  void EndLeaked(const HeldCall& call);

  // A grant has ever been installed and not been taken back.
  bool granted() const { return granted_.load(std::memory_order_relaxed); }
  GrantStage stage() const;
  Calls limit() const { return words_.LimitAt(clock_.Now()); }
  Calls in_flight() const { return in_flight_.calls(); }
  const Clock& clock() const { return clock_; }
  BulkheadStats Stats() const;
  const LimitJournal& journal() const { return journal_; }

  // GrantPort:
  void Install(const StepFunction& function, Instant now) override;
  void SetObserve(bool observe) override;
  // Callbacks of those who wait run on the thread of the timers.
  void StopAdmitting() override { Stop(PermitQueue::Deliver::kByTimer); }
  Measurement Measure(Instant now, absl::Duration interval) override;
  std::vector<OverduePermit> TakeOverdue(Instant now) override;

  // The same as StopAdmitting(), and the callbacks have run when it returns.
  void Drain() { Stop(PermitQueue::Deliver::kHere); }

 private:
  // How an attempt to enter ended. With a call and a reason, it is in and has to go again.
  struct Attempt {
    std::optional<InFlight::Entered> call = {};
    Calls limit = 0;
    std::optional<Rejection> why = {};
  };

  Limiter(const Clock& clock, const BulkheadOptions& options, Timers* timers);
  ~Limiter() override;

  // ForkObserver:
  void InForkedChild() override;

  // QueueOwner, in limiter_waiting.cc like all that has to do with waiting:
  bool HasRoom(const CallRequest& request, Instant now) const override;
  std::optional<Admission> TryTurn(const CallRequest& request) override;
  absl::Duration CallTime() const override;
  void TellWhoLeaves(bool somebody_waits) override;
  void CountRefusal(const CallRequest& request, Rejection why) override;
  Admission Recheck(const CallRequest& request, Admission admission) override;

  Calls MostFor(const CallRequest& request, Calls limit) const;
  // Not even if nothing were in flight. While the limit is 0 nothing can be said.
  bool FitsNever(const CallRequest& request, Calls limit) const;
  bool InTime(const CallRequest& request, Instant at) const;
  bool Overtakes(const InFlight::Entered& call, std::uint32_t priority) const;
  bool EnterTenant(const CallRequest& request, Calls limit);
  std::uint32_t Watch(Instant at, CallSite site) {
    return watch_ == nullptr ? 0 : watch_->Enter(at, site);
  }
  void LeaveTenant(std::uint32_t tenant, Calls cost) {
    if (tenant != 0) tenants_->Leave(tenant, cost);
  }

  Admission EnterPlain(CallSite site);
  Attempt Enter(const CallRequest& request);
  Attempt TryPass(const CallRequest& request);
  Admission EndAttempt(const CallRequest& request, const Attempt& attempt);
  Admission Admit(const CallRequest& request, const InFlight::Entered& call, Calls limit);
  void NoteNoRoom(const CallRequest& request);
  Admission RefuseOrObserve(const CallRequest& request, Rejection why);
  Admission Observe(const CallRequest& request, const InFlight::Entered& call, Rejection why);
  bool Observes(const InFlight::Entered& call) const;
  Admission AdmitObserved(const CallRequest& request, const InFlight::Entered& call, Rejection why);
  std::optional<Admission> ObserveTurn(const CallRequest& request, Rejection why);
  Admission RollBack(const CallRequest& request, Rejection why);
  Rejection Refuse(Rejection why, std::uint32_t priority, Calls cost);
  void RaisePeak(Calls calls, Instant at);
  void NoteEndAtLimit(Instant at, Calls cost);
  void EndInOrder(Outcome outcome, const HeldCall& call, Instant at);
  void Leave(Calls cost);
  void AfterLeaving(const InFlight::Left& left, PermitQueue* queue);
  void LeaveQuietly(Calls cost);
  void Retire();
  void WakeWaiting();
  void Stop(PermitQueue::Deliver how);

  void StoreWords(Instant at);
  void CloseWindow(Instant at);
  void TakePeak(Instant at);

  void ReadEndings(BulkheadStats& stats) const;
  void ReadRefusals(BulkheadStats& stats) const;
  void ReadClasses(BulkheadStats& stats) const;
  void ReadWaits(BulkheadStats& stats) const;

  // Fixed at construction.
  const Clock& clock_;
  std::unique_ptr<DueWork> due_work_;
  const BulkheadOptions options_;
  std::array<Share, kPriorityClassesMax> shares_;
  const std::unique_ptr<TenantTable> tenants_;  // null without a cap
  PermitQueue* queue_ = nullptr;                // null without capacity, and in a forked child
  const std::unique_ptr<PermitWatch> watch_;    // null if the age of permits does not matter

  // Written by every call.
  alignas(64) InFlight in_flight_;
  std::atomic<Calls> peak_{0};
  TimeAtLimit at_limit_;

  // Read by every call, written at grants.
  alignas(64) AdmissionWords words_;
  std::atomic<std::int64_t> due_ns_{kInfiniteFuture.ns};
  std::atomic<std::int64_t> call_deadline_ns_{kInfiniteFuture.ns};
  std::atomic<bool> draining_{false};
  std::atomic<bool> observing_{false};
  std::atomic<bool> granted_{false};
  ServiceTime service_time_;
  // For stage(): the ends of the function's steps.
  std::atomic<std::int64_t> limit_end_ns_{0};
  std::atomic<std::int64_t> base_end_ns_{0};
  std::atomic<std::int64_t> stepped_down_{0};

  // Written by refused calls.
  alignas(64) RejectCounters rejected_;  // those that were only observed as well
  RejectCounters would_reject_;          // of the rejected, those that were admitted

  // Written by admitted calls that are not of the first class, or of more than one unit.
  alignas(64) std::array<std::atomic<std::int64_t>, kPriorityClassesMax> admitted_by_class_{};
  std::atomic<std::int64_t> units_beyond_first_{0};

  // Written by every call, by each thread in a place of its own.
  TimeInFlight time_in_flight_;

  // Written when the calls in flight reach a new height.
  alignas(64) RollingMax in_flight_max_;

  // Written at the end of calls.
  alignas(64) CallCounters counters_;

  // Confined to the agent's thread.
  alignas(64) StepFunction function_;
  LimitJournal journal_;     // read by everybody
  bool steps_ended_ = true;  // the words hold the last step: none is left to end
  Instant next_end_;         // else: of the step that the first word holds
  WindowCutter cutter_;
  std::vector<Window> windows_;  // closed, not yet measured
  Calls window_peak_ = 0;
  Calls measured_peak_ = 0;

  Limiter* next_retired_ = nullptr;  // of those that cannot be deleted yet
};

}  // namespace plimsoll::internal
