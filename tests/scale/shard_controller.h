#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plimsoll/controller/core.h"
#include "plimsoll/store/etcd_plan.h"
#include "tests/scale/shard_agent.h"

namespace plimsoll::scale {

// What a controller asks of the rest of the world of a shard.
class ShardSurroundings {
 public:
  virtual ~ShardSurroundings() = default;
  // A reign has begun, with so many bounds inherited; what it serves with is in `core`.
  virtual void OnLed(int controller, const Core& core, std::int64_t bounds) = 0;
  // Its owner has failed or has given the shard back.
  virtual void OnLost(int controller) = 0;
  // The key of the owner is gone from etcd.
  virtual void OnKeyGone() = 0;
  // The owner has accepted a sync of this agent.
  virtual void OnHeard(ShardAgent& agent, const Core& core) = 0;
};

// What one controller does about one shard: it looks who lives, takes the shard over when it finds
// itself the first of those, by a transaction that only one can win, and serves it with the real
// core; gives it back when one that ranks higher has come. Thread-compatible.
class ShardController {
 public:
  // `rank` among the controllers that may own the shard. All must outlive it.
  ShardController(ShardWorld& world, const PolicySet& policies, ShardSurroundings& surroundings,
                  int controller, int rank, int candidates);

  // It has seen that the one of that rank lives, or does not.
  void See(int rank, bool lives);
  // All at once, by rank: what a process finds that begins to look.
  void SeeAll(std::vector<bool> lives);
  // Somebody should look whether the shard is free.
  void Decide();
  void Fail(OutageKind kind);
  void Return(OutageKind kind);
  // The lease that its keys in etcd hang on.
  std::int64_t lease() const { return 1 + controller_ + 100'000 * leases_; }

  void Receive(ShardAgent& agent, std::int64_t exchange, const AgentMessage& message);
  int controller() const { return controller_; }
  const Core* core() const { return core_.get(); }

 private:
  struct Waiting {
    ShardAgent* agent = nullptr;
    std::int64_t exchange = 0;
  };
  using Then = std::function<void()>;

  // Runs `then` later, if this process and this reign are still there.
  void Later(absl::Duration delay, Then then);
  void Campaign();
  void TakeOver(std::shared_ptr<EtcdTakeOver> plan);
  void Lead(EtcdReignStart start);
  void HandOver();
  void End();
  void Tick();
  void Apply(const Event& event);
  void Perform(Action action);
  void PerformReply(const ReplyAction& reply);
  void PerformWrite(WriteAction write);
  void SendWrite(WriteId write);
  void PerformConfirm(ConfirmAction confirm);
  void Forge(EtcdTxn& txn) const;
  bool Reachable() const { return !cut_off_; }

  ShardWorld& world_;
  const PolicySet& policies_;
  ShardSurroundings& surroundings_;
  const int controller_;
  const std::size_t rank_;
  const std::string prefix_;
  std::vector<bool> lives_;  // by rank, as far as it has seen
  bool up_ = true;
  bool cut_off_ = false;
  bool campaigning_ = false;
  std::int64_t incarnation_ = 0;  // of the process
  std::int64_t leases_ = 0;       // that it has had
  std::int64_t reign_ = 0;        // counts beginnings and ends
  VirtualClock clock_;

  std::unique_ptr<Core> core_;
  std::optional<EtcdReignStart> start_;
  std::unique_ptr<EtcdReignPlan> plan_;
  bool deposed_ = false;
  bool refused_ = false;  // the newest request
  RequestId last_request_;
  std::map<RequestId, Waiting> waiting_;
};

// Keys and values that a transaction writes.
std::int64_t BytesOf(const EtcdTxn& txn);
// Where the keys of a shard are.
std::string ShardPrefix(int shard);
std::string LeaderKey(int shard);

}  // namespace plimsoll::scale
