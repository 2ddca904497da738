#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "controller/simulation/src/virtual_disk.h"
#include "controller/simulation/src/world.h"
#include "plimsoll/controller/core.h"

namespace plimsoll::internal {

// The machine the controller runs on: at most one controller process at a time, and the disk that
// survives it. Thread-compatible.
class ControllerHost {
 public:
  using Reply = std::function<void(const Answer&)>;

  explicit ControllerHost(World& world);

  // A new process takes over and serves.
  void Start();
  // The process is gone, with everything it had not written.
  void Crash();
  // The process says good-bye to its agents first.
  void ShutDown();
  void PauseUntil(Instant until) { process_.PauseUntil(until); }

  // A message has come over the network. `exchange` names the connection it came over. A machine
  // without a process refuses the connection.
  void Receive(std::int64_t exchange, const AgentMessage& message, Reply reply);
  // The connection is gone.
  void Abandon(std::int64_t exchange);

  // For the checker; null while no process runs.
  const Core* core() const { return core_.get(); }
  // What that process' clock says. Requires core() != nullptr.
  Instant now() const { return clock_->Now(); }

 private:
  struct Waiting {
    std::int64_t exchange = 0;
    Reply reply;
  };

  void Apply(const Event& event);
  void Perform(Action action);
  void PerformReply(ReplyAction reply);
  void PerformWrite(WriteAction write);
  void Tick();

  World& world_;
  VirtualDisk disk_;
  Pausable process_;
  int reign_ = 0;  // counts processes: what was meant for an earlier one comes to nothing
  Epoch epoch_;
  std::optional<VirtualClock> clock_;
  std::unique_ptr<Core> core_;
  absl::Duration tick_;
  RequestId last_request_;
  std::map<RequestId, Waiting> waiting_;
};

}  // namespace plimsoll::internal
