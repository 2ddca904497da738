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
  if (thread_.joinable()) thread_.join();
}

DurationHistogram StoreWriter::durations() const {
  const MutexLock lock(mutex_);
  return durations_;
}

void StoreWriter::Run() {
  for (;;) {
    WriteAction action;
    {
      const MutexLock lock(mutex_);
      while (!pending_ && !stopping_) changed_.Wait(mutex_);
      if (stopping_) return;
      action = *std::exchange(pending_, std::nullopt);
    }
    const Instant begin = clock_.Now();
    absl::Status status = store_.Commit(action.batch);
    {
      const MutexLock lock(mutex_);
      durations_.Record(clock_.Now() - begin);
    }
    written_(action.write, std::move(status));
  }
}

}  // namespace plimsoll::internal
