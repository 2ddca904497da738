#include "agent/src/pool_workers.h"

#include <pthread.h>

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/src/admit.h"
#include "agent/src/signals_blocked.h"
#include "plimsoll/agent/deadline.h"
#include "plimsoll/agent/retry_scope.h"

namespace plimsoll::internal {
namespace {

constexpr std::size_t kThreadNameMax = 15;

// No later than the permit's own, on which the quota counts.
Deadline DeadlineOf(const PoolEntry& entry, const std::optional<Permit>& permit) {
  const Deadline own = entry.options.deadline;
  return permit.has_value() ? std::min(own, permit->due()) : own;
}

}  // namespace

PoolWorkers::PoolWorkers(ThreadPoolOptions options, const Clock& clock, Timers& timers)
    : options_(std::move(options)), core_(std::make_shared<PoolCore>(options_, clock, timers)) {}

// In a child after fork() there are no threads to end, and no lock that could be taken for sure.
PoolWorkers::~PoolWorkers() {
  if (core_->InChild()) {
    static_cast<void>(new std::vector<std::thread>(std::move(threads_)));
    static_cast<void>(new std::shared_ptr<PoolCore>(core_));
    return;
  }
  if (const absl::Status drained = core_->Drain(absl::FromChrono(options_.drain_timeout));
      !drained.ok()) {
    options_.log(absl::StrCat("thread pool of '", options_.dependency,
                              "' waits for its threads to end: ", std::string(drained.message())));
  }
  core_->Stop();
  for (std::thread& thread : threads_) thread.join();
}

absl::Status PoolWorkers::Start() {
  const SignalsBlocked blocked;
  const std::string name = options_.dependency.substr(0, kThreadNameMax);
  try {
    for (int i = 0; i < options_.threads; ++i) {
      threads_.emplace_back([this] { Run(); });
      pthread_setname_np(threads_.back().native_handle(), name.c_str());
    }
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(absl::StrCat("thread ", threads_.size() + 1, " of ",
                                                     options_.threads,
                                                     " cannot be started: ", error.what()));
  }
  return absl::OkStatus();
}

void PoolWorkers::Run() {
  while (const std::shared_ptr<PoolEntry> entry = core_->Next()) Carry(entry);
}

void PoolWorkers::Carry(const std::shared_ptr<PoolEntry>& entry) {
  std::optional<Permit> permit;
  if (options_.bulkhead != nullptr) {
    Admission admission = Admit(*options_.bulkhead, entry->options, entry->site);
    if (!admission) return core_->Refuse(entry, admission.rejection());
    permit.emplace(*std::move(admission));
  }
  if (!core_->Begin(entry)) {
    if (permit.has_value()) permit->Ignore();
    return;
  }
  const DeadlineScope deadline(DeadlineOf(*entry, permit));
  const RetryScope retries(entry->retries);
  const std::optional<Outcome> outcome = entry->task->Run(entry->stop.get_token());
  const Outcome counted = core_->Judge(*entry, outcome);
  if (permit.has_value()) permit->Finish(counted);
  core_->Finish(entry, entry->retries - RetryScope::Left());
}

}  // namespace plimsoll::internal
