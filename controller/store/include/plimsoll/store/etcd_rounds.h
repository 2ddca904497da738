#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/store/etcd_api.h"
#include "plimsoll/store/etcd_round_plan.h"

namespace plimsoll {

// Confirms the reigns of one process: those that ask at the same time share a question to etcd.
// Thread-safe; without a thread of its own, whoever asks first asks for all.
class EtcdRounds {
 public:
  // `ops_max` as in EtcdRoundPlan.
  explicit EtcdRounds(std::unique_ptr<Etcd> etcd, int ops_max = kEtcdOpsMax)
      : etcd_(std::move(etcd)), plan_(ops_max) {}

  // Whether the reign stood at some moment since the call (rule C6): kFailedPrecondition if it is
  // over, kUnavailable if nothing is known. Blocks for the call under way and its own, and for one
  // more for each `ops_max` reigns that asked before.
  absl::Status Confirm(const EtcdReignToken& reign);
  // Calls that have not been answered yet.
  std::size_t waiting() const {
    const MutexLock lock(mutex_);
    return waiting_.size();
  }

 private:
  struct Waiting {
    CondVar changed;
    bool judged = false;
    absl::Status verdict;
  };

  // Puts one question, without the lock.
  void Round() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  bool asking_ ABSL_GUARDED_BY(mutex_) = false;  // somebody is, for all
  const std::unique_ptr<Etcd> etcd_;             // of whoever is asking
  EtcdRoundPlan plan_ ABSL_GUARDED_BY(mutex_);
  std::map<EtcdRoundPlan::Ticket, Waiting*> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace plimsoll
