#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tests/scale/shard_controller.h"
#include "tests/scale/workload.h"

namespace plimsoll::scale {

// The life of one shard, from nothing to the end of the run: its agents, and the controllers that
// may own it. Thread-compatible.
class ShardRun final : public ShardSurroundings {
 public:
  // All must outlive it.
  ShardRun(const Options& options, const Timetable& timetable, const ShardLoad& load, int shard,
           Figures& figures);

  // Call it once.
  void Run();

  void OnLed(int controller, const Core& core, std::int64_t bounds) override;
  void OnLost(int controller) override;
  void OnKeyGone() override;
  void OnHeard(ShardAgent& agent, const Core& core) override;

 private:
  void Plan(const Outage& outage);
  void Begin(const Outage& outage);
  void Tell(int rank, bool lives);
  std::vector<bool> Living() const;
  void Reach(ShardAgent& agent, int controller, std::int64_t exchange, const AgentMessage& message);
  void Refuse(const Outage& outage, ShardAgent& agent, std::int64_t exchange);
  void CheckCovered(const ShardAgent& agent, const Core& core);
  void SampleOften();
  void FollowTakeOver(double use);
  void NoteStart();
  // Among those that may own the shard; null for the others.
  ShardController* Candidate(int controller);

  ShardWorld world_;
  const ShardLoad& load_;
  PolicySet policies_;
  ShardAgent::Reach reach_;
  std::vector<int> rank_of_;  // by controller; -1: does not come into question
  std::vector<std::unique_ptr<ShardController>> candidates_;  // by rank
  std::vector<std::unique_ptr<ShardAgent>> agents_;

  int owner_ = -1;   // who serves, rightfully
  int key_of_ = -1;  // whose key is in etcd
  std::int64_t epoch_ = 0;
  std::int64_t heard_ = 0;
  std::optional<TakeOver> following_;  // the newest, until the use of the quota is restored
  int lost_by_ = -1;
  Instant lost_at_;
  double before_ = 1;  // the use of the quota when the owner was lost
  double lowest_ = 1;
  std::vector<double> uses_;  // by samples
  Instant all_heard_;         // for the first time
};

}  // namespace plimsoll::scale
