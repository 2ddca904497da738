#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "agent/src/pool_core.h"
#include "plimsoll/agent/thread_pool.h"

namespace plimsoll::internal {

// The threads of a pool. Confined to the pool's owner.
class PoolWorkers {
 public:
  PoolWorkers(ThreadPoolOptions options, const Clock& clock, Timers& timers);
  // Drains, then waits for the threads to end.
  ~PoolWorkers();
  PoolWorkers(const PoolWorkers&) = delete;
  PoolWorkers& operator=(const PoolWorkers&) = delete;

  // kResourceExhausted if the system has not enough threads.
  absl::Status Start();
  PoolCore& core() { return *core_; }

 private:
  void Run();
  void Carry(const std::shared_ptr<PoolEntry>& entry);

  const ThreadPoolOptions options_;
  const std::shared_ptr<PoolCore> core_;  // outlives the pool in the hands of callers
  std::vector<std::thread> threads_;
};

}  // namespace plimsoll::internal
