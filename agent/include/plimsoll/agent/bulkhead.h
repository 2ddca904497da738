#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/agent/call_options.h"
#include "plimsoll/agent/permit.h"

namespace plimsoll {

class AcquireAwaiter;
namespace internal {
class LimiterOf;
}  // namespace internal

// Which step of the newest grant is in force. A controller that answers keeps a bulkhead in kLease;
// while none does, it goes down the steps, which were reserved beforehand, and never up.
enum class GrantStage {
  kNone,     // nothing was granted yet, or it was taken back: the limit is 0
  kLease,    // the limit of the grant
  kBase,     // the lease has run out: the guaranteed minimum, for as long as the base lease runs
  kReserve,  // that has run out, too: what stays for good, usually nothing
};
// "none", "lease", "base", "reserve"; of static storage.
std::string_view ToString(GrantStage stage);

// What came of the calls of one priority class.
struct ClassStats {
  std::string name;
  std::int64_t admitted = 0;
  std::array<std::int64_t, kRejections> refused{};  // by Rejection

  // All who asked.
  std::int64_t offered() const;
};

// Calls whose latency was below `below` and not below that of the bucket before.
struct LatencyBucket {
  std::chrono::nanoseconds below;  // max(): no end
  std::int64_t count = 0;
};

// What a bulkhead has counted since it was made, and where it stands. Everything is in units: a
// call of cost 3 is in here three times. Counts of one snapshot may be a few calls apart.
struct BulkheadStats {
  int limit = 0;      // in force now; 0 before the first grant
  int in_flight = 0;  // held now
  // The most that were in flight at once during the last 15 seconds, to a second, whoever asks and
  // how often.
  int in_flight_max = 0;
  GrantStage stage = GrantStage::kNone;
  std::int64_t stepped_down = 0;  // how often a step ended without a newer grant
  std::int64_t admitted = 0;
  std::int64_t calls = 0;  // admitted, each counted once whatever it cost
  std::int64_t succeeded = 0;
  std::int64_t dropped = 0;
  std::int64_t ignored = 0;         // leaked ones included
  std::int64_t leaked = 0;          // permits destroyed without a stated ending
  std::int64_t overran = 0;         // permits that ended after their call deadline
  std::int64_t overdue = 0;         // permits, not units, that were reported for their age
  std::int64_t rejected_limit = 0;  // refused by the limit
  std::int64_t rejected_draining = 0;
  std::array<std::int64_t, kRejections> refused{};  // by Rejection, the two above among them
  std::array<std::int64_t, kOutcomes> outcomes{};   // by Outcome; Drop() counts as kOverload
  std::vector<ClassStats> classes;                  // as in BulkheadOptions::classes
  std::vector<LatencyBucket> latency;  // of what succeeded or was dropped; without empty buckets
  // Callers in the queue. They are neither admitted nor refused yet, and not in flight.
  std::int64_t waiting = 0;
  std::chrono::nanoseconds oldest_wait{0};  // so far, of the one that has waited longest
  std::int64_t waiting_max = 0;             // the most that ever waited at once
  std::int64_t waited = 0;                  // admitted after a wait
  std::int64_t timed_out_waiting = 0;  // of those refused with kDeadline, those that had waited
  std::vector<LatencyBucket> wait;     // how long those that were admitted had waited
  // Observe mode: the policy says that calls are only counted. `limit` and `stage` are then what
  // would be in force, and in_flight may be above the limit.
  bool observing = false;
  std::int64_t would_reject = 0;  // admitted, but refused if the policy were enforced
  std::array<std::int64_t, kRejections> would_refuse{};  // the same by Rejection

  std::int64_t refused_by(Rejection why) const { return refused[static_cast<std::size_t>(why)]; }
  std::int64_t ended_by(Outcome how) const { return outcomes[static_cast<std::size_t>(how)]; }
};

// The compartment of one dependency: decides whether a call may start, and measures those that did.
// Made and owned by an Agent. Thread-safe; TryAcquire() and the endings of permits are lock-free,
// allocate nothing, and make no system call but a clock read, as long as nobody waits. Not for
// signal handlers: threads count for themselves.
class Bulkhead {
 public:
  Bulkhead(const Bulkhead&) = delete;
  Bulkhead& operator=(const Bulkhead&) = delete;
  ~Bulkhead();

  // A permit if fewer calls are in flight than the limit allows, else why not. Never waits.
  // In observe mode nobody is refused, whether a controller can be reached or not, but by an agent
  // that leaves. But a bulkhead learns its mode from the controller: before that has spoken for the
  // first time, it admits nothing in either mode. Inside a DeadlineScope the deadline counts.
  Admission TryAcquire(CallSite site = CallSite::Here());

  // The same for a call with wishes of its own: cost, priority, tenant, deadline. Never waits.
  // Aborts if a wish is out of range.
  Admission TryAcquire(const CallOptions& options, CallSite site = CallSite::Here());

  // As TryAcquire(), and if the limit is reached, waits for room as long as `options.wait` and its
  // deadline allow, if the bulkhead has a queue (BulkheadOptions::queue). Blocks the thread.
  // Refused with kQueueFull if as many wait as may, or a more important caller needs the place;
  // with kDeadline if the wait was in vain, or too long for the queue's controlled delay, or the
  // permit came too late to be of use; with kDraining as soon as the agent leaves; with kLimit if
  // there is nothing to wait for.
  Admission Acquire(const CallOptions& options, CallSite site = CallSite::Here());

  // The same without blocking. `callback` is called exactly once: in this call, if it need not
  // wait; else on the thread that makes room by ending a call, on the one that drains or destroys
  // the bulkhead, or on the library's timer thread. It must be quick, neither block nor throw. No
  // lock is held meanwhile, and it may use the bulkhead; what comes up for other callbacks while it
  // runs follows when it has ended. Never called in a forked child.
  //
  // At teardown all who wait get kDraining: by Agent::Drain() and ~Agent, by ~LocalBulkhead, before
  // these return and on their thread, except for coroutines with an executor, which go on in that,
  // perhaps later. In such a callback the bulkhead may still be used: it refuses everything with
  // kDraining, at once. So what a callback captures must outlive the agent (or LocalBulkhead), or
  // be captured by value. The destructor does not wait for a callback that runs on another thread
  // then: whoever gives callbacks that touch the bulkhead keeps it until they have all come.
  void AcquireAsync(const CallOptions& options, std::function<void(Admission)> callback,
                    CallSite site = CallSite::Here());

  // Where a coroutine goes on: is given a function, and runs it once, soon.
  using Executor = std::function<void(std::function<void()>)>;

  // The same for a coroutine: co_await bulkhead.AcquireAwait(options). It goes on where the
  // callback would run, or in `executor`. Include acquire_await.h, which says more.
  AcquireAwaiter AcquireAwait(const CallOptions& options, Executor executor = nullptr,
                              CallSite site = CallSite::Here());

  const std::string& dependency() const { return dependency_; }
  // The limit in force now: what the newest grant says for this moment.
  int limit() const;
  GrantStage stage() const;
  int in_flight() const;
  BulkheadStats stats() const;

 private:
  friend class Agent;
  friend class BulkheadFactory;
  friend class internal::LimiterOf;
  Bulkhead(std::string dependency, internal::Limiter* limiter);

  const std::string dependency_;
  internal::Limiter* const limiter_;  // gives itself up when the last permit has ended
};

}  // namespace plimsoll
