#include "controller/main/shard_council.h"

#include <optional>
#include <utility>

namespace plimsoll {
namespace {

constexpr absl::Duration kLookEvery = absl::Milliseconds(200);

ShardView ToView(const EtcdClusterView& cluster) {
  ShardView view;
  for (const Leader& member : cluster.members) view.members.push_back(member.id);
  for (const std::optional<Leader>& owner : cluster.owners) {
    view.owners.push_back(owner.has_value() ? owner->id : "");
  }
  return view;
}

}  // namespace

ShardCouncil::ShardCouncil(std::unique_ptr<EtcdMembers> members, ShardDirectorOptions options,
                           std::function<void(int shard)> hand_over, const Clock& clock)
    : members_(std::move(members)),
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

// Whoever cannot look decides nothing: those that campaign say why.
void ShardCouncil::Look() {
  const absl::StatusOr<EtcdClusterView> cluster = members_->Look();
  if (!cluster.ok()) return;
  std::optional<int> shard;
  {
    const MutexLock lock(mutex_);
    director_.See(ToView(*cluster), clock_.Now());
    shard = director_.TakeHandOver(clock_.Now());
  }
  if (shard.has_value()) hand_over_(*shard);
}

bool ShardCouncil::Pause() {
  const MutexLock lock(mutex_);
  if (!stop_) stopped_.WaitFor(mutex_, kLookEvery);
  return !stop_;
}

}  // namespace plimsoll
