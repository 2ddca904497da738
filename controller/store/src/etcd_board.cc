#include "plimsoll/store/etcd_board.h"

#include <utility>

namespace plimsoll {

void EtcdBoard::Begin() {
  const MutexLock lock(mutex_);
  ++begun_;
}

void EtcdBoard::Set(std::vector<EtcdSight> sights, absl::Status status) {
  const MutexLock lock(mutex_);
  sights_ = std::move(sights);
  status_ = std::move(status);
  ended_ = seen_ = begun_;
  changed_.NotifyAll();
}

void EtcdBoard::Fail(absl::Status why) {
  const MutexLock lock(mutex_);
  status_ = std::move(why);
  ended_ = begun_;
  changed_.NotifyAll();
}

std::int64_t EtcdBoard::begun() const {
  const MutexLock lock(mutex_);
  return begun_;
}

EtcdBoard::Reading EtcdBoard::Await(int shard, std::int64_t look,
                                    const std::atomic<bool>& stop) const {
  const MutexLock lock(mutex_);
  while (ended_ <= look && !stop) changed_.Wait(mutex_);
  return {ended_, status_, ended_ > 0 && seen_ == ended_, sights_[static_cast<std::size_t>(shard)]};
}

void EtcdBoard::Wake() {
  const MutexLock lock(mutex_);
  changed_.NotifyAll();
}

}  // namespace plimsoll
