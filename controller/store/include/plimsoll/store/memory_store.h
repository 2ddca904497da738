#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plimsoll/controller/store.h"
#include "plimsoll/core/mutex.h"

namespace plimsoll {

// What a memory store has written. It outlives the stores on it, so that a restart of the
// controller can be played: drop one store, make the next on the same disk. Thread-safe.
class MemoryDisk {
 public:
  MemoryDisk() = default;
  MemoryDisk(const MemoryDisk&) = delete;
  MemoryDisk& operator=(const MemoryDisk&) = delete;

 private:
  friend class MemoryStore;

  absl::StatusOr<StoreState> TakeOver(std::int64_t first_epoch);
  absl::Status Commit(const WriteBatch& batch);
  std::vector<std::string> ReadAudit(int limit);
  void GiveUp();

  Mutex mutex_;
  bool held_ ABSL_GUARDED_BY(mutex_) = false;
  std::int64_t epoch_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<BoundKey, Bound> bounds_ ABSL_GUARDED_BY(mutex_);
  std::map<DocumentKey, std::string> documents_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::string> audit_ ABSL_GUARDED_BY(mutex_);
  absl::Duration longest_hold_ ABSL_GUARDED_BY(mutex_);
  std::string lost_ ABSL_GUARDED_BY(mutex_);  // why; empty if the bounds can be trusted
};

// A store that forgets everything when the process ends, for development and tests. It behaves as
// OpenSqliteStore() does otherwise: the epochs of a disk start at `first_epoch` and rise with every
// TakeOver(), and a disk serves one store at a time, from its TakeOver() to its end.
std::unique_ptr<Store> MakeMemoryStore(std::int64_t first_epoch,
                                       std::shared_ptr<MemoryDisk> disk = nullptr);

}  // namespace plimsoll
