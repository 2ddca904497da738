#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "controller/simulation/src/store_port.h"
#include "controller/simulation/src/world.h"
#include "plimsoll/controller/core.h"

namespace plimsoll::internal {

// A machine for controllers: at most one process at a time, which reigns, believes so, or, where
// several machines share the store, stands by. Thread-compatible.
class ControllerHost {
 public:
  // The answer, and who leads if that is known and somebody else.
  using Reply = std::function<void(const Answer&, std::optional<std::size_t> leader)>;

  ControllerHost(World& world, StorePort& store, int index);

  // A new process has taken over, has found this, and serves.
  void Start(const StoreState& found);
  // The process that is there has taken over with this epoch: it reads what it finds, and serves,
  // as soon as it runs.
  void StartInPlace(Epoch epoch, std::function<StoreState()> read);
  // The process is gone, with everything it had not written.
  void Crash();
  // The process says good-bye to its agents first.
  void ShutDown();

  // For processes that stand for election. The process has been elected, has found this, and
  // serves.
  void Lead(StoreState found);
  // The process does not lead, or not any more.
  void StandBy();
  // There is no process any more.
  void Leave();
  // Called when the core knows that its reign is over, with the latest epoch that agents knew of.
  void OnDeposed(std::function<void(Epoch seen)> deposed) { on_deposed_ = std::move(deposed); }
  // Where agents are sent while it stands by.
  void set_leader(std::function<std::optional<std::size_t>()> leader) {
    leader_ = std::move(leader);
  }
  const Pausable& process() const { return process_; }

  void PauseUntil(Instant until) { process_.PauseUntil(until); }
  // The operator has changed quota, override or dependency, as the world says.
  void ChangePolicies();
  // The operator resets the law; evicts an instance.
  void Reset();
  void Evict(const InstanceId& instance);

  // A message has come over the network. `exchange` names the connection it came over. A machine
  // without a process refuses the connection.
  void Receive(std::int64_t exchange, const AgentMessage& message, Reply reply);
  // The connection is gone.
  void Abandon(std::int64_t exchange);

  // Adds what the templates of the reign did to the counts of the world; when it ends.
  void CountTemplates();

  // For the checker; null while nothing reigns here, or believes to.
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
  void PerformConfirm(ConfirmAction confirm);
  void End();
  void CountStart();
  void Tick();
  void ScheduleWake();
  void Refuse(const Reply& reply) const;
  // Lets the core know, if the process that asked is still there and runs.
  StorePort::Done LetKnow(std::function<Event(absl::Status)> event);

  World& world_;
  StorePort& store_;
  const int index_;
  Pausable process_;
  int reign_ = 0;  // counts processes: what was meant for an earlier one comes to nothing
  Epoch epoch_;    // the newest it knows of
  std::optional<VirtualClock> clock_;
  std::unique_ptr<Core> core_;
  bool deposed_ = false;
  absl::Duration tick_;
  Instant next_tick_;
  RequestId last_request_;
  std::map<RequestId, Waiting> waiting_;
  bool running_;
  Epoch seen_;
  std::function<void(Epoch)> on_deposed_;
  std::function<std::optional<std::size_t>()> leader_;
};

}  // namespace plimsoll::internal
