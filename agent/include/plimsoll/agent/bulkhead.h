#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "plimsoll/agent/call_options.h"
#include "plimsoll/agent/permit.h"

namespace plimsoll {

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

// What a bulkhead has counted since it was made, and where it stands.
struct BulkheadStats {
  int limit = 0;      // in force now; 0 before the first grant
  int in_flight = 0;  // permits held now
  GrantStage stage = GrantStage::kNone;
  std::int64_t stepped_down = 0;  // how often a step ended without a newer grant
  std::int64_t admitted = 0;
  std::int64_t succeeded = 0;
  std::int64_t dropped = 0;
  std::int64_t ignored = 0;         // leaked ones included
  std::int64_t leaked = 0;          // permits destroyed without a stated ending
  std::int64_t overran = 0;         // permits that ended after their call deadline
  std::int64_t rejected_limit = 0;  // refused by the limit
  std::int64_t rejected_draining = 0;
  // Observe mode: the policy says that calls are only counted. `limit` and `stage` are then what
  // would be in force, and in_flight may be above the limit.
  bool observing = false;
  std::int64_t would_reject = 0;  // admitted, but refused by the limit if it were enforced
};

// The compartment of one dependency: decides whether a call may start, and measures those that did.
// Made and owned by an Agent. Thread-safe; TryAcquire() and the endings of permits are lock-free,
// allocate nothing, and make no system call but a clock read.
class Bulkhead {
 public:
  Bulkhead(const Bulkhead&) = delete;
  Bulkhead& operator=(const Bulkhead&) = delete;
  ~Bulkhead();

  // A permit if fewer calls are in flight than the limit allows, else why not. Never waits.
  // In observe mode the limit refuses nobody, whether a controller can be reached or not; only an
  // agent that leaves does. But a bulkhead learns its mode from the controller: before that has
  // spoken for the first time, it admits nothing in either mode.
  Admission TryAcquire();

  // The same for a call with wishes of its own: cost, priority, tenant, deadline. Never waits.
  Admission TryAcquire(const CallOptions& options);

  // As TryAcquire(), and if the limit is reached, waits for a place as long as `options.wait` and
  // its deadline allow, if the bulkhead has a queue (BulkheadOptions::queue). Blocks the thread.
  Admission Acquire(const CallOptions& options);

  const std::string& dependency() const { return dependency_; }
  // The limit in force now: what the newest grant says for this moment.
  int limit() const;
  GrantStage stage() const;
  int in_flight() const;
  BulkheadStats stats() const;

 private:
  friend class Agent;
  friend class BulkheadFactory;
  Bulkhead(std::string dependency, internal::Limiter* limiter);

  const std::string dependency_;
  internal::Limiter* const limiter_;  // gives itself up when the last permit has ended
};

}  // namespace plimsoll
