#pragma once

#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "plimsoll/controller/leadership.h"
#include "plimsoll/core/mutex.h"

namespace plimsoll::internal {

// Who leads, as far as is known. Thread-safe.
class LeaderBoard {
 public:
  void Set(std::optional<Leader> leader) {
    const MutexLock lock(mutex_);
    leader_ = std::move(leader);
  }
  // Nobody is known any more, if it was this one.
  void Clear(const Leader& former) {
    const MutexLock lock(mutex_);
    if (leader_ == former) leader_.reset();
  }
  std::optional<Leader> leader() const {
    const MutexLock lock(mutex_);
    return leader_;
  }

 private:
  mutable Mutex mutex_;
  std::optional<Leader> leader_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace plimsoll::internal
