#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plimsoll/agent/breaker.h"
#include "plimsoll/agent/bulkhead.h"
#include "plimsoll/agent/bulkhead_options.h"
#include "plimsoll/agent/metrics.h"
#include "plimsoll/agent/options.h"

namespace plimsoll {

class RetryBudget;
struct GuardLayers;  // plimsoll/agent/guard.h

// Plimsoll inside a process: owns the bulkheads, and the one thread that reports what they measured
// to the controller and installs the limits it sends. One per process is enough. Thread-safe.
//
// Without a controller nothing is admitted at first: no share of the quota is known. Once a limit
// was granted, losing the controller steps it down in stages (lease, base, reserve), never up.
//
// After fork() the child's copy admits nothing, since the share belongs to the parent; start a new
// agent in the child. Drain() and WaitUntilGranted() return kFailedPrecondition there. The copy and
// the permits that the child inherited may be destroyed or left alone, without effect on the
// parent.
class Agent {
 public:
  // Starts the thread and returns at once; the first limit arrives when the controller answers.
  // Returns kInvalidArgument if Validate(options) finds faults.
  static absl::StatusOr<std::unique_ptr<Agent>> Start(const AgentOptions& options);

  // As Drain() with AgentOptions::release_timeout, then ends the thread, which may take up to
  // connect_timeout longer while a controller is away. Permits may outlive it; bulkheads must not
  // be used afterwards.
  ~Agent();

  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // The bulkhead of a dependency, made at the first call; it lives as long as the agent. Takes a
  // lock, so keep the reference. Aborts if the name is not valid: 1 to 63 letters, digits, '.',
  // '_', '~', '-' that begin and end with a letter or digit.
  Bulkhead& bulkhead(std::string_view dependency);

  // The same with options, which hold for good: set them where the bulkhead is first asked for.
  // Returns kInvalidArgument if Validate(options) finds faults, and kFailedPrecondition if the
  // bulkhead was made with others before, be it by the function above.
  absl::StatusOr<Bulkhead*> bulkhead(std::string_view dependency, const BulkheadOptions& options);
  // The circuit breaker of a dependency, one with those of all other instances: it opens by what
  // this process sees, and when the controller says that the fleet has seen enough; and while it is
  // open, one instance probes for all. Without a controller it goes on alone. It lets everything
  // pass as long as the policy has no `breaker`. Its settings are the policy's; a change of them
  // begins with a closed breaker. Otherwise as bulkhead(), which it does not ask: see Guard, or ask
  // it first. Its tickets must end before the agent does.
  // If the bulkhead is to have options, ask for that first.
  Breaker& breaker(std::string_view dependency);

  // The retry budget of a dependency, shared by all who call it from this process. Otherwise as
  // bulkhead().
  RetryBudget& retry_budget(std::string_view dependency);

  // The three of them, for a Guard: `plimsoll::Guard guard(agent->layers("payments-api"));`
  GuardLayers layers(std::string_view dependency);

  // Leaves: admits nothing any more, waits up to `timeout` for the calls in flight, and gives the
  // shares back, so that others have them at once. Returns kDeadlineExceeded if calls are still in
  // flight or the controller could not be told; the shares are then freed by time. There is no way
  // back.
  absl::Status Drain(std::chrono::nanoseconds timeout);

  // For metrics: see VisitMetrics(). Waits for nothing but bulkhead(), and never holds up a call.
  AgentSnapshot Snapshot() const;

  // True while the last exchange with the controller succeeded; of several that share the
  // dependencies, with each that leads some of those that are used.
  bool connected() const;
  // The name this process is registered under.
  std::string instance() const;
  // Waits until the bulkheads made so far have had a grant, or `timeout` has passed; returns
  // kDeadlineExceeded then. For start-up code that wants to be ready before it takes traffic.
  absl::Status WaitUntilGranted(std::chrono::nanoseconds timeout);

 private:
  friend class AgentFactory;
  class Impl;
  explicit Agent(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace plimsoll
