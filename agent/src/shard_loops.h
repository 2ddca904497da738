#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/src/sync_loop.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/core/random.h"
#include "plimsoll/core/shard.h"

namespace plimsoll::internal {

// An agent's sessions: one, or one with each shard that its dependencies belong to. It begins with
// one that knows of no shards; a controller that has some refuses its registration and says how
// many. From then on each dependency is reported in a session, and by a thread, of its shard, which
// is made when the first such dependency is used. The number is believed once and for all.
// Thread-safe, but Start() and Stop() are the owner's.
class ShardLoops {
 public:
  // A transport to the routes of a shard. Empty: shards cannot be talked to.
  using MakeTransport = std::function<std::unique_ptr<Transport>(int shard)>;

  // `clock` must outlive it. `log` is called by all threads.
  ShardLoops(SessionOptions options, const Clock& clock, Random random,
             std::unique_ptr<Transport> transport, MakeTransport make_transport, LogFunction log);
  ~ShardLoops() { Stop(); }

  // All as those of SyncLoop, over all sessions.
  absl::Status Start() { return first_.Start(); }
  void Stop();
  void Add(DependencyId dependency, GrantPort& port, BreakerPort* breaker = nullptr);
  void Leave();
  // Of the session that reports the dependency.
  void Wake(const DependencyId& dependency);
  bool WaitFor(absl::Duration timeout, const std::function<bool()>& done) {
    return first_.WaitFor(timeout, done);
  }
  SyncCounts syncs() const;
  // Of every session.
  bool connected() const;
  bool released() const;
  bool finished() const;
  // Of the first session there is: another one may have been renamed by its shard.
  std::string instance() const;

 private:
  struct Joined {
    DependencyId dependency;
    GrantPort* port;
    BreakerPort* breaker;
  };

  // In the thread of the first loop, which ends after it.
  void OnShards(int shards);
  void AddToShard(Joined joined) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  SyncLoop* MakeLoop(int shard) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  SyncLoop* loop(int shard) const {
    return loops_[static_cast<std::size_t>(shard)].load(std::memory_order_acquire);
  }
  // Calls `look` with each loop of a shard.
  template <typename Look>
  void ForEachLoop(const Look& look) const {
    for (int shard = 0; shard < shards_.load(std::memory_order_acquire); ++shard) {
      if (SyncLoop* const one = loop(shard)) look(*one);
    }
  }

  const SessionOptions options_;
  const Clock& clock_;
  const MakeTransport make_transport_;
  const LogFunction log_;

  mutable Mutex mutex_;
  Random random_ ABSL_GUARDED_BY(mutex_);
  bool leaving_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<Joined> joined_ ABSL_GUARDED_BY(mutex_);  // while the number is not known
  std::vector<std::unique_ptr<SyncLoop>> owned_ ABSL_GUARDED_BY(mutex_);
  // Read without the lock, also in a child process in which it may be taken for ever.
  std::atomic<int> shards_{0};  // 0: none, as far as is known
  std::array<std::atomic<SyncLoop*>, kShardsMax> loops_{};
  SyncLoop first_;
};

}  // namespace plimsoll::internal
