#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
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
  // Reads the newest audit records, when its turn has come, and calls `done` on the writer's
  // thread. Returns at once. Not read if the writer is stopped before its turn.
  void ReadAudit(int limit, std::function<void(absl::StatusOr<std::vector<std::string>>)> done);
  // Calls `answer` on the writer's thread, after what it does now, which proves that it does not
  // hang. Returns at once. If the writer is stopped before, when it ends; afterwards, at once.
  void Ask(std::function<void()> answer);
  // Waits for the write under way, then ends the thread. Nothing is written afterwards; `done` of
  // what has not had its turn is called with an error. One caller.
  void Stop();

  DurationHistogram durations() const;

 private:
  // With OK when its turn has come; with an error if that will not come.
  using Task = std::function<void(const absl::Status& turn)>;

  void Run();
  absl::Status Write(const WriteBatch& batch);

  // Fixed at construction.
  Store& store_;
  const Clock& clock_;
  const std::function<void(WriteId, absl::Status)> written_;

  mutable Mutex mutex_;
  CondVar changed_;
  std::optional<WriteAction> pending_ ABSL_GUARDED_BY(mutex_);
  // What operators have changed, or want to read.
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::function<void()>> questions_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  DurationHistogram durations_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace plimsoll::internal
