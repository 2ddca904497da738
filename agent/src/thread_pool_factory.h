#pragma once

#include <memory>

#include "agent/src/timers.h"
#include "plimsoll/agent/thread_pool.h"
#include "plimsoll/core/clock.h"

namespace plimsoll {

// Starts pools whose time is handed in.
class ThreadPoolFactory {
 public:
  // As ThreadPool::Start(). Both must outlive the pool and its calls.
  static absl::StatusOr<std::unique_ptr<ThreadPool>> Start(ThreadPoolOptions options,
                                                           const Clock& clock,
                                                           internal::Timers& timers);
};

}  // namespace plimsoll
