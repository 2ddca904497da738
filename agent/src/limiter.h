#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "agent/src/call_request.h"
#include "agent/src/due_work.h"
#include "agent/src/fork_registry.h"
#include "agent/src/grant_port.h"
#include "agent/src/in_flight.h"
#include "agent/src/limit_journal.h"
#include "agent/src/limiter_state.h"
#include "agent/src/permit_queue.h"
#include "agent/src/permit_watch.h"
#include "agent/src/queue_owner.h"
#include "agent/src/share.h"
#include "agent/src/tenant_table.h"
#include "agent/src/timers.h"
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
  void SetDue(Instant at) { in_force_.due_ns.store(at.ns, std::memory_order_relaxed); }
  bool IsDue(Instant at) const { return at.ns >= in_force_.due_ns.load(std::memory_order_relaxed); }

  // The owner's last call: admits nothing any more, and deletes the limiter as soon as no permit
  // needs it. TryAcquire() must not be called at the same time or later.
  void Abandon();

  // A call of one unit and the first class: the shortest way. Shortest of all is a refusal, which
  // is what there is most of when there is too much.
  Admission TryAcquire(CallSite site = CallSite::Here()) {
    if (counted_.in_flight.calls() < in_force_.words.Highest()) return EnterPlain(site);
    if (in_force_.observing.load(std::memory_order_relaxed) ||
        in_force_.draining.load(std::memory_order_relaxed)) [[unlikely]] {
      return RefuseOrObserve({.site = site}, Rejection::kLimit);
    }
    counted_.rejected.CountPlain();
    return Rejection::kLimit;
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
  bool granted() const { return in_force_.granted.load(std::memory_order_relaxed); }
  GrantStage stage() const;
  Calls limit() const { return in_force_.words.LimitAt(clock_.Now()); }
  // Whoever sees here that a call has left sees what was counted of it.
  Calls in_flight() const { return counted_.in_flight.Read().calls; }
  const Clock& clock() const { return clock_; }
  BulkheadStats Stats() const;
  const LimitJournal& journal() const { return measuring_.journal; }

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
  void Leave(Calls cost);
  void LeaveQuietly(Calls cost);
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

  // Cache lines of their own: written by every call; read by every call and written at grants.
  Counted counted_;
  InForce in_force_;
  // Confined to the agent's thread, but for the journal.
  Measuring measuring_;
};

}  // namespace plimsoll::internal
