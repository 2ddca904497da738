#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "agent/src/timers.h"
#include "plimsoll/agent/call_options.h"
#include "plimsoll/agent/pool_call.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

class PoolCore;

enum class PoolPhase {
  kQueued,
  kStarting,  // has a thread, which asks for a permit
  kRunning,
  kDone,       // the function has returned or thrown
  kRefused,    // never ran, nor will
  kCancelled,  // likewise
};

// A task on its way through a pool. What it is made with never changes; the rest is guarded by the
// lock of its core. Shared by the core, a thread of the pool, the caller and a timer.
class PoolEntry {
 public:
  PoolEntry(std::shared_ptr<PoolCore> its_core, std::shared_ptr<PoolTask> its_task,
            const CallOptions& its_options, CallSite its_site, int its_retries)
      : core(std::move(its_core)),
        task(std::move(its_task)),
        tenant(its_options.tenant),
        options(its_options),
        site(its_site),
        retries(its_retries) {
    options.tenant = tenant;  // the caller's text may be gone by then
  }
  PoolEntry(const PoolEntry&) = delete;
  PoolEntry& operator=(const PoolEntry&) = delete;

  Instant deadline() const { return {options.deadline.lease_clock_ns()}; }

  const std::shared_ptr<PoolCore> core;
  const std::shared_ptr<PoolTask> task;
  const std::string tenant;
  CallOptions options;  // set at construction; never `never`
  const CallSite site;
  const int retries;      // what the submitter had left
  std::stop_source stop;  // thread-safe by itself

  // Guarded by the core's lock.
  PoolPhase phase = PoolPhase::kQueued;
  bool late = false;  // the deadline passed while it ran
  std::optional<Rejection> rejection;
  int retries_used = 0;
  TimerId timer = kNoTimer;
  CondVar changed;
};

}  // namespace plimsoll::internal
