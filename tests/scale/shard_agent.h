#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "agent/src/session.h"
#include "controller/simulation/src/sabotage.h"
#include "tests/scale/share.h"
#include "tests/scale/workload.h"

namespace plimsoll::scale {

using internal::AgentMessage;

// What an agent does about one shard: the real session, over shares in place of bulkheads, and the
// loop that stands for its thread. Stays where it is. Thread-compatible.
class ShardAgent {
 public:
  // How to reach a controller: called when the message has arrived there.
  using Reach = std::function<void(ShardAgent& agent, int controller, std::int64_t exchange,
                                   const AgentMessage& message)>;

  // All must outlive it.
  ShardAgent(ShardWorld& world, const AgentPart& part, const std::vector<Policy>& policies,
             const Reach& reach);

  void Start() { Drive(); }
  // An answer has come. `leader` is the controller that a refusal has named, -1 for none.
  void OnAnswer(std::int64_t exchange, const internal::Answer& answer, int leader);
  // The machine at the other end says that nobody is there any more.
  void OnConnectionLost(int controller);
  // Another connection than this has to be made first.
  bool HasConnection(int controller) const { return connected_to_ == controller; }
  bool ExchangesWith(int controller) const { return exchanging_ && controller_ == controller; }

  const SessionId& session() const { return session_.session(); }
  const std::vector<std::unique_ptr<Share>>& shares() const { return shares_; }
  // The newest epoch whose owner has heard it.
  std::int64_t heard_by = 0;

 private:
  void Drive();
  void Send(internal::SendMessage step);
  void ChangeDemand(Share& share);
  absl::Duration UntilNextDemand();
  void OnTimeout(std::int64_t exchange);
  int Controller(std::size_t address) const;

  ShardWorld& world_;
  const Reach& reach_;
  const int first_controller_;  // addresses are listed from this one on, to spread agents
  VirtualClock clock_;
  Random random_;
  std::vector<std::unique_ptr<Share>> shares_;
  internal::Session session_;

  bool exchanging_ = false;
  bool syncing_ = false;
  std::int64_t exchange_ = 0;
  int controller_ = 0;     // with which it exchanges
  int connected_to_ = -1;  // who answered last
  Instant sent_at_;
  std::int64_t wake_ = 0;
};

}  // namespace plimsoll::scale
