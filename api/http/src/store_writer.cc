#include "api/http/src/store_writer.h"

#include <utility>

#include "plimsoll/core/check.h"

namespace plimsoll::internal {

StoreWriter::StoreWriter(Store& store, const Clock& clock,
                         std::function<void(WriteId, absl::Status)> written)
    : store_(store), clock_(clock), written_(std::move(written)), thread_([this] { Run(); }) {}

StoreWriter::~StoreWriter() { Stop(); }

void StoreWriter::Submit(WriteAction action) {
  const MutexLock lock(mutex_);
  PLIMSOLL_CHECK(!pending_, "the core has at most one write under way");
  pending_ = std::move(action);
  changed_.NotifyOne();
}

void StoreWriter::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyOne();
  }
  if (!thread_.joinable()) return;
  thread_.join();
  std::deque<Change> dropped;
  {
    const MutexLock lock(mutex_);
    dropped.swap(changes_);
  }
  for (const Change& change : dropped) {
    change.done(absl::FailedPreconditionError("this controller does not lead any more"));
  }
}

DurationHistogram StoreWriter::durations() const {
  const MutexLock lock(mutex_);
  return durations_;
}

void StoreWriter::Submit(WriteBatch batch, std::function<void(absl::Status)> done) {
  const MutexLock lock(mutex_);
  changes_.push_back({std::move(batch), std::move(done)});
  changed_.NotifyOne();
}

void StoreWriter::Run() {
  for (;;) {
    std::optional<WriteAction> action;
    std::optional<Change> change;
    {
      const MutexLock lock(mutex_);
      while (!pending_ && changes_.empty() && !stopping_) changed_.Wait(mutex_);
      if (stopping_) return;
      action = std::exchange(pending_, std::nullopt);
      if (!changes_.empty()) {
        change = std::move(changes_.front());
        changes_.pop_front();
      }
    }
    // Agents wait for the one, a person for the other: neither can keep the other from its turn.
    if (action) written_(action->write, Write(action->batch));
    if (change) change->done(Write(change->batch));
  }
}

absl::Status StoreWriter::Write(const WriteBatch& batch) {
  const Instant begin = clock_.Now();
  absl::Status status = store_.Commit(batch);
  const MutexLock lock(mutex_);
  durations_.Record(clock_.Now() - begin);
  return status;
}

}  // namespace plimsoll::internal
