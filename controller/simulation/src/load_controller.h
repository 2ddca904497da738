#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "agent/src/transport.h"
#include "controller/simulation/src/event_queue.h"
#include "controller/simulation/src/sabotage.h"
#include "controller/simulation/src/virtual_store.h"
#include "plimsoll/controller/core.h"
#include "plimsoll/core/random.h"
#include "plimsoll/simulation/scenario.h"
#include "plimsoll/simulation/virtual_clock.h"

namespace plimsoll::internal {

// The controller of a load simulation: the real core and the loop around it, with an exact clock
// and a disk that never fails. What can go wrong between them is the quota simulation's business;
// here it can only be away. Thread-compatible.
class LoadController {
 public:
  using Reply = std::function<void(const Answer&)>;

  // `queue` and `random` must outlive the controller. Options and policy must be valid.
  LoadController(EventQueue& queue, Random& random, const CoreOptions& options,
                 const Policy& policy);

  // A process begins to reign, over what the one before left in the store.
  void Start();
  // The process is gone.
  void Crash();

  // A message has come. Without a process the connection is refused.
  void Receive(std::int64_t exchange, const AgentMessage& message, Reply reply);
  // The connection is gone.
  void Abandon(std::int64_t exchange);

  // Gathers the changes of limits that were logged since the last time, oldest first. To be called
  // often enough that none falls out of the log.
  void CollectDecisions(std::vector<LogEvent>& decisions);

 private:
  struct Waiting {
    std::int64_t exchange = 0;
    Reply reply;
  };

  void Apply(const Event& event);
  void Perform(Action action);
  void PerformReply(ReplyAction reply);
  void Tick();
  // Lets the core know, if the process that asked is still there.
  VirtualStore::Done LetKnow(std::function<Event(absl::Status)> event);

  EventQueue& queue_;
  const CoreOptions options_;
  const Policy policy_;
  const Scenario disk_;
  VirtualStore store_;
  VirtualClock clock_;
  std::unique_ptr<Core> core_;
  int reign_ = 0;  // counts processes: what was meant for an earlier one comes to nothing
  Epoch epoch_;
  RequestId last_request_;
  std::map<RequestId, Waiting> waiting_;
  std::array<std::int64_t, kEventTypes> decisions_collected_{};  // of this reign
};

}  // namespace plimsoll::internal
