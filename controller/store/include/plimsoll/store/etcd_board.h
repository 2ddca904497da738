#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/store/etcd_plan.h"

namespace plimsoll {

// What the last look at all shards has found, for those that campaign in the same process: they
// need not look each for themselves. It decides nothing; whoever wants to lead looks himself before
// he tries. Thread-safe.
class EtcdBoard {
 public:
  // Of one shard.
  struct Reading {
    std::int64_t look = 0;     // the number of the look, from 1; 0: there was none yet
    absl::Status status = {};  // why nobody can be elected; OK if somebody can
    bool seen = false;         // what that look has found is in `sight`
    EtcdSight sight = {};
  };

  explicit EtcdBoard(int shards) : sights_(static_cast<std::size_t>(shards)) {}

  // For whoever looks, one at a time: a look begins; it has found this, by shard, though maybe this
  // controller must not stand; or it has failed.
  void Begin();
  void Set(std::vector<EtcdSight> sights, absl::Status status);
  void Fail(absl::Status why);

  // Looks that have begun until now: what a later one finds is not older than this call.
  std::int64_t begun() const;
  // What was found by the newest look that has ended, once that has a number above `look`; or what
  // there is when `stop` is set, of which Wake() tells those who wait.
  Reading Await(int shard, std::int64_t look, const std::atomic<bool>& stop) const;
  void Wake();

 private:
  mutable Mutex mutex_;
  mutable CondVar changed_;
  std::int64_t begun_ ABSL_GUARDED_BY(mutex_) = 0;
  std::int64_t ended_ ABSL_GUARDED_BY(mutex_) = 0;  // the number of the last one that has
  std::int64_t seen_ ABSL_GUARDED_BY(mutex_) = 0;   // of the last one that has found something
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  std::vector<EtcdSight> sights_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace plimsoll
