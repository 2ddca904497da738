#pragma once

#include <cstdint>
#include <functional>

#include "agent/src/limiter.h"
#include "agent/src/session.h"
#include "controller/simulation/src/load_controller.h"

namespace plimsoll::internal {

// What the processes of a load simulation share.
struct LoadNet {
  EventQueue& queue;
  Random& random;
  absl::Duration delay;       // one way, on average
  std::int64_t messages = 0;  // sent so far
  std::int64_t grants = 0;    // put in force so far that changed a limit

  // Nothing is lost on the way.
  void Send(EventQueue::Action arrive) {
    ++messages;
    queue.After(delay * random.Uniform(0.5, 2), std::move(arrive));
  }
};

// The process of one replica, from its start to its end: the real session, the real limiter, and
// the loop that stands for the agent's thread. Stays where it is after its end: messages and calls
// that concern it may still be under way. Thread-compatible.
class LoadAgent {
 public:
  // All must outlive the process.
  LoadAgent(LoadNet& net, LoadController& controller, const DependencyId& dependency,
            const InstanceId& name);
  ~LoadAgent();

  // Ends without a word.
  void Crash();
  // Stops admitting, drains, releases, ends; by force if that takes too long.
  void Leave();

  bool alive() const { return alive_; }
  bool admitting() const { return alive_ && !session_.leaving(); }
  Limiter& limiter() { return *limiter_; }
  // The limit in force.
  Calls limit() const { return admitting() ? limiter_->limit() : 0; }
  // A caller was refused.
  void OnRefused();

 private:
  // Counts what passes.
  class Port;

  // Asks the session what to do, and does it, until there is nothing to do now.
  void Drive();
  void Send(SendMessage step);
  void OnAnswer(std::int64_t exchange, const Answer& answer);
  void OnTimeout(std::int64_t exchange);
  void BreakOff();
  void End();
  Instant now() const { return clock_.Now(); }

  LoadNet& net_;
  LoadController& controller_;
  bool alive_ = true;
  VirtualClock clock_;
  Random random_;
  Limiter* limiter_;  // gives itself up when the last permit has ended
  std::unique_ptr<Port> port_;
  Session session_;

  bool exchanging_ = false;
  bool syncing_ = false;       // what is, or was, exchanged is a sync
  std::int64_t exchange_ = 0;  // the newest; unique in the world
  Instant sent_at_;            // when it began
  std::int64_t wake_ = 0;      // the newest; older ones are void
};

}  // namespace plimsoll::internal
