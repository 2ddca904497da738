#include "plimsoll/agent/thread_pool.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/src/pool_workers.h"
#include "agent/src/thread_pool_factory.h"
#include "agent/src/timer_thread.h"
#include "plimsoll/core/violations.h"

namespace plimsoll {
namespace {

constexpr int kThreadsMax = 1000;
constexpr int kQueueMax = 1'000'000;

void LogToStderr(std::string_view line) {
  std::fprintf(stderr, "plimsoll: %.*s\n", static_cast<int>(line.size()), line.data());
}

}  // namespace

absl::Status Validate(const ThreadPoolOptions& options) {
  using std::chrono::nanoseconds;
  Violations violations(Violations::Form::kWords);
  violations.Require(options.threads >= 1 && options.threads <= kThreadsMax, "threads",
                     options.threads, "must be 1 to 1000");
  violations.Require(options.queue_capacity >= 0 && options.queue_capacity <= kQueueMax,
                     "queue_capacity", options.queue_capacity, "must be 0 to 1000000");
  violations.Require(options.timeout > nanoseconds::zero(), "timeout", options.timeout,
                     "must be positive");
  violations.Require(options.drain_timeout >= nanoseconds::zero(), "drain_timeout",
                     options.drain_timeout, "must be zero or more");
  return violations.ToStatus("thread pool options");
}

absl::StatusOr<std::unique_ptr<ThreadPool>> ThreadPoolFactory::Start(ThreadPoolOptions options,
                                                                     const Clock& clock,
                                                                     internal::Timers& timers) {
  if (absl::Status valid = Validate(options); !valid.ok()) return valid;
  if (!options.log) options.log = &LogToStderr;
  auto workers = std::make_unique<internal::PoolWorkers>(std::move(options), clock, timers);
  if (absl::Status started = workers->Start(); !started.ok()) return started;
  return std::unique_ptr<ThreadPool>(new ThreadPool(std::move(workers)));
}

absl::StatusOr<std::unique_ptr<ThreadPool>> ThreadPool::Start(ThreadPoolOptions options) {
  return ThreadPoolFactory::Start(std::move(options), RealClock(), internal::SharedTimers());
}

ThreadPool::ThreadPool(std::unique_ptr<internal::PoolWorkers> workers)
    : workers_(std::move(workers)) {}
ThreadPool::~ThreadPool() = default;

internal::PoolTicket ThreadPool::Enqueue(const CallOptions& options,
                                         std::shared_ptr<internal::PoolTask> task, CallSite site) {
  return internal::PoolTicket(workers_->core().Enqueue(options, std::move(task), site));
}

absl::Status ThreadPool::Drain(std::chrono::nanoseconds timeout) {
  return workers_->core().Drain(absl::FromChrono(timeout));
}

ThreadPoolStats ThreadPool::stats() const { return workers_->core().Stats(); }

namespace internal {

std::optional<Rejection> PoolTicket::rejection() const {
  return entry_->core->RejectionOf(*entry_);
}
TaskEnd PoolTicket::Wait() { return entry_->core->Wait(*entry_); }
void PoolTicket::Cancel() { entry_->core->Cancel(*entry_); }

}  // namespace internal
}  // namespace plimsoll
