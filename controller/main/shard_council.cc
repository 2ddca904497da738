#include "controller/main/shard_council.h"

#include <optional>
#include <utility>

namespace plimsoll {
namespace {

constexpr absl::Duration kLookEvery = absl::Milliseconds(200);

ShardView ToView(const EtcdClusterView& cluster) {
  ShardView view;
  for (const Leader& member : cluster.members) view.members.push_back(member.id);
  for (const EtcdSight& shard : cluster.shards) {
    view.owners.push_back(shard.leader.has_value() ? shard.leader->id : "");
  }
  return view;
}

}  // namespace

ShardCouncil::ShardCouncil(std::unique_ptr<EtcdMembers> members, ShardDirectorOptions options,
                           std::shared_ptr<EtcdBoard> board,
                           std::function<void(int shard)> hand_over, const Clock& clock)
    : members_(std::move(members)),
      board_(std::move(board)),
      hand_over_(std::move(hand_over)),
      clock_(clock),
      director_(std::move(options)) {}

ShardCouncil::~ShardCouncil() { Stop(); }

void ShardCouncil::Stop() {
  if (!thread_.joinable()) return;
  {
    const MutexLock lock(mutex_);
    stop_ = true;
    stopped_.NotifyAll();
  }
  thread_.join();
  members_->Leave();
}

void ShardCouncil::Run() {
  do {
    Look();
  } while (Pause());
}

// Whoever cannot look decides nothing, nor does who is no member: those that campaign say why.
void ShardCouncil::Look() {
  board_->Begin();
  const absl::StatusOr<EtcdClusterView> cluster = members_->Look();
  if (!cluster.ok()) return board_->Fail(cluster.status());
  std::optional<int> shard;
  if (cluster->joined.ok()) {
    const MutexLock lock(mutex_);
    director_.See(ToView(*cluster), clock_.Now());
    shard = director_.TakeHandOver(clock_.Now());
  }
  // After the director, whom those that campaign ask then.
  board_->Set(cluster->shards, cluster->joined);
  if (shard.has_value()) hand_over_(*shard);
}

bool ShardCouncil::Pause() {
  const MutexLock lock(mutex_);
  if (!stop_) stopped_.WaitFor(mutex_, kLookEvery);
  return !stop_;
}

}  // namespace plimsoll
