#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "plimsoll/controller/core.h"
#include "plimsoll/controller/store.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/duration_histogram.h"
#include "plimsoll/core/mutex.h"

namespace plimsoll::internal {

// The thread that waits for the disk, so that the core's thread never does. Thread-safe.
class StoreWriter {
 public:
  // `written` is called on the writer's thread. Store and clock must outlive the writer.
  StoreWriter(Store& store, const Clock& clock, std::function<void(WriteId, absl::Status)> written);
  ~StoreWriter();

  // Returns at once. There is at most one write under way: the core sees to that.
  void Submit(WriteAction action);
  // Writes what operators have changed, after what has been submitted before, and calls `done` on
  // the writer's thread. Returns at once. Not written if the writer is stopped before its turn.
  void Submit(WriteBatch batch, std::function<void(absl::Status)> done);
  // Waits for the write under way, then ends the thread. Nothing is written afterwards; `done` of
  // changes that were not is called with an error. One caller.
  void Stop();

  DurationHistogram durations() const;

 private:
  struct Change {
    WriteBatch batch;
    std::function<void(absl::Status)> done;
  };

  void Run();
  absl::Status Write(const WriteBatch& batch);

  // Fixed at construction.
  Store& store_;
  const Clock& clock_;
  const std::function<void(WriteId, absl::Status)> written_;

  mutable Mutex mutex_;
  CondVar changed_;
  std::optional<WriteAction> pending_ ABSL_GUARDED_BY(mutex_);
  std::deque<Change> changes_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  DurationHistogram durations_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace plimsoll::internal
