#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/store/etcd_board.h"
#include "plimsoll/store/etcd_members.h"
#include "plimsoll/store/shard_director.h"

namespace plimsoll {

// Looks who is there and who leads what, for all that campaign here, and has the director decide
// what this controller stands for and what it hands over. With a thread of its own. Thread-safe.
class ShardCouncil {
 public:
  // `hand_over` is called on the council's thread and must not wait. `clock` must outlive it.
  ShardCouncil(std::unique_ptr<EtcdMembers> members, ShardDirectorOptions options,
               std::shared_ptr<EtcdBoard> board, std::function<void(int shard)> hand_over,
               const Clock& clock);
  ~ShardCouncil();

  void Start() {
    thread_ = std::thread([this] { Run(); });
  }
  // This controller is no member any more, so others do not wait for it.
  void Stop();

  bool MayStand(int shard) const {
    const MutexLock lock(mutex_);
    return director_.MayStand(shard, clock_.Now());
  }

 private:
  void Run();
  void Look();
  bool Pause();

  const std::unique_ptr<EtcdMembers> members_;  // of the thread
  const std::shared_ptr<EtcdBoard> board_;
  const std::function<void(int shard)> hand_over_;
  const Clock& clock_;

  mutable Mutex mutex_;
  CondVar stopped_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  ShardDirector director_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace plimsoll
