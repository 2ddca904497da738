#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/src/limiter.h"
#include "agent/src/session.h"
#include "controller/simulation/src/controller_host.h"
#include "controller/simulation/src/world.h"

namespace plimsoll::internal {

// One process of one instance, from its start to its end: the session, the limiter of its one
// bulkhead, and the loop that stands for the agent's thread. Stays where it is after its end,
// because messages and calls that concern it may still be under way. Thread-compatible.
class AgentProcess {
 public:
  // All must outlive the process. `ended` is called once, when the process ends by itself or by
  // Crash().
  AgentProcess(World& world, const std::vector<std::unique_ptr<ControllerHost>>& controllers,
               int index, const InstanceId& name, const Calls& demand, std::function<void()> ended);
  ~AgentProcess();

  void Crash();
  // Stops admitting, drains, releases, ends; by force if that takes too long.
  void Leave();
  void PauseUntil(Instant until) { process_.PauseUntil(until); }
  void SuspectClock();

  // A call arrives. It is admitted or refused at once, and runs until it ends.
  void Arrive();

  bool alive() const { return alive_; }
  // When it ended; only if it has.
  Instant ended_at() const { return ended_at_; }
  const SessionId& session() const { return session_.session(); }
  bool connected() const { return session_.connected() && !session_.leaving(); }
  // The limit that holds at this moment by the process' own clock.
  Calls InForce() const;

 private:
  class Port;

  // Asks the session what to do, and does it, until there is nothing to do now.
  void Drive();
  void WaitUntil(Instant at);
  void Send(SendMessage step);
  void OnAnswer(std::int64_t exchange, Answer answer, std::optional<std::size_t> leader);
  void OnTimeout(std::int64_t exchange);
  void HandToSession(const Answer& answer, std::optional<std::size_t> leader);
  void BreakOff();
  ControllerHost& controller() { return *controllers_[static_cast<std::size_t>(controller_)]; }
  void Interrupt();
  bool Admit();
  void BeginCall(Permit permit);
  void End();

  // Runs `action` in this process: later if it is paused, never if it has ended.
  void Deliver(EventQueue::Action action);
  Instant now() const { return clock_.Now(); }
  void Note(std::int64_t kind, const std::function<std::string()>& text);

  World& world_;
  const std::vector<std::unique_ptr<ControllerHost>>& controllers_;
  const int index_;
  const Calls& demand_;  // of its callers, now
  std::function<void()> ended_;
  bool alive_ = true;
  Instant ended_at_;
  VirtualClock clock_;
  Random random_;
  Pausable process_;
  Limiter* limiter_;  // gives itself up when the last permit has ended
  std::unique_ptr<Port> port_;
  Session session_;

  bool exchanging_ = false;
  bool syncing_ = false;       // what is, or was, exchanged is a sync
  std::int64_t exchange_ = 0;  // the newest; unique in the world
  int controller_ = 0;         // with which
  Instant sent_at_;            // when it began
  std::int64_t wake_ = 0;      // the newest; older ones are void
  std::map<std::int64_t, Permit> calls_;
};

}  // namespace plimsoll::internal
