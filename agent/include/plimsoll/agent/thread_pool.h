#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plimsoll/agent/bulkhead.h"
#include "plimsoll/agent/call_options.h"
#include "plimsoll/agent/pool_call.h"

namespace plimsoll {

namespace internal {
class PoolCore;
class PoolWorkers;
}  // namespace internal

struct ThreadPoolOptions {
  std::string dependency = {};  // for log lines; the first 15 bytes name the threads
  int threads = 8;              // 1 to 1000
  int queue_capacity = 16;      // tasks that wait for a thread, 0 to 1,000,000
  // The longest that a task may take, its time in the queue included; positive. CallOptions and
  // Deadline::Current() can shorten it.
  std::chrono::nanoseconds timeout{1'000'000'000};
  // How long the destructor waits for tasks before it refuses those in the queue and asks those
  // that run to stop.
  std::chrono::nanoseconds drain_timeout{5'000'000'000};
  // So that the fleet's limit holds as well: each task gets a permit when a thread begins it, not
  // while it is in the queue, where it is not in flight. One that gets none is kRefused. The permit
  // ends as the task's Outcome says, as kError if it threw, as kTimeout if it came back too late.
  // May be null; must outlive the pool.
  Bulkhead* bulkhead = nullptr;
  // Called with one line when a task hangs at the end. Must not throw. By default it goes to
  // stderr.
  std::function<void(std::string_view line)> log = {};
};

struct ThreadPoolStats {
  int running = 0;  // tasks that have a thread now
  int queued = 0;
  int hung = 0;                // of the running, those whose time has run out
  std::int64_t started = 0;    // tasks that ran
  std::int64_t failed = 0;     // of them, those that threw
  std::int64_t overran = 0;    // of them, those whose time ran out while they ran
  std::int64_t cancelled = 0;  // taken back in the queue
  std::int64_t rejected_queue_full = 0;
  std::int64_t rejected_deadline = 0;  // their time had run out before they ran
  std::int64_t rejected_draining = 0;
  std::int64_t rejected_bulkhead = 0;
};

// Threads of one dependency, apart from all others: a client that hangs takes these and no more,
// and its caller has its answer in time although the client has not. For clients that block and
// cannot be cut; others do without a pool (Bulkhead, Guard).
//
// What hangs keeps its thread. No thread of a process can be ended from outside, so `hung` threads
// are missing until the task returns, and tasks are refused with kQueueFull when none is left. Give
// clients time-outs of their own as well, a little longer.
//
// In a task, Deadline::Current() is the task's deadline and RetryScope::Left() what the submitter
// had; retries that it uses are missing there after Get(). Threads block all signals. In a child
// after fork() all tasks are refused with kDraining. Thread-safe.
class ThreadPool {
 public:
  // kInvalidArgument if Validate(options) finds faults, kResourceExhausted if the system has not
  // enough threads.
  static absl::StatusOr<std::unique_ptr<ThreadPool>> Start(ThreadPoolOptions options);

  // As Drain() with `drain_timeout`, then waits for all threads to end, however long that takes:
  // one that is left behind would use what has been destroyed. A line says if tasks hang. Never
  // from a task.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Runs function() or function(std::stop_token) in a thread of the pool, or refuses at once:
  // kQueueFull, kDeadline or kDraining. Never blocks. The function must own all that it uses, since
  // its caller may be gone by then. CallOptions::wait is how long the task's thread may wait for a
  // permit. If the function returns an Outcome, an AttemptEnd or a pair that begins with one, that
  // is how its permit ends.
  template <typename F>
  PoolCall<std::decay_t<F>> Submit(const CallOptions& options, F&& function,
                                   CallSite site = CallSite::Here()) {
    auto task =
        std::make_shared<internal::PoolFunction<std::decay_t<F>>>(std::forward<F>(function));
    return {Enqueue(options, task, site), task};
  }
  template <typename F>
  PoolCall<std::decay_t<F>> Submit(F&& function, CallSite site = CallSite::Here()) {
    return Submit(CallOptions(), std::forward<F>(function), site);
  }

  // Refuses new tasks from here on, and waits for those there are. kDeadlineExceeded after
  // `timeout`, having refused those in the queue and asked those that run to stop. There is no way
  // back.
  absl::Status Drain(std::chrono::nanoseconds timeout);

  ThreadPoolStats stats() const;

 private:
  friend class ThreadPoolFactory;
  explicit ThreadPool(std::unique_ptr<internal::PoolWorkers> workers);
  internal::PoolTicket Enqueue(const CallOptions& options, std::shared_ptr<internal::PoolTask> task,
                               CallSite site);

  const std::unique_ptr<internal::PoolWorkers> workers_;
};

// Lists every violation as name, value and rule. OK if there is none.
absl::Status Validate(const ThreadPoolOptions& options);

}  // namespace plimsoll
