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
  std::deque<Task> dropped;
  {
    const MutexLock lock(mutex_);
    dropped.swap(tasks_);
  }
  for (const Task& task : dropped) {
    task(absl::FailedPreconditionError("this controller does not lead any more"));
  }
}

DurationHistogram StoreWriter::durations() const {
  const MutexLock lock(mutex_);
  return durations_;
}

void StoreWriter::Submit(WriteBatch batch, std::function<void(absl::Status)> done) {
  const MutexLock lock(mutex_);
  tasks_.emplace_back([this, batch = std::move(batch), done = std::move(done)](
                          const absl::Status& turn) { done(turn.ok() ? Write(batch) : turn); });
  changed_.NotifyOne();
}

void StoreWriter::ReadAudit(int limit,
                            std::function<void(absl::StatusOr<std::vector<std::string>>)> done) {
  const MutexLock lock(mutex_);
  tasks_.emplace_back([this, limit, done = std::move(done)](const absl::Status& turn) {
    done(turn.ok() ? store_.ReadAudit(limit) : turn);
  });
  changed_.NotifyOne();
}

void StoreWriter::Ask(std::function<void()> answer) {
  {
    const MutexLock lock(mutex_);
    if (!stopping_) {
      questions_.push_back(std::move(answer));
      changed_.NotifyOne();
      return;
    }
  }
  answer();
}

void StoreWriter::Run() {
  for (;;) {
    std::optional<WriteAction> action;
    Task task;
    std::vector<std::function<void()>> questions;
    bool ends = false;
    {
      const MutexLock lock(mutex_);
      while (!pending_ && tasks_.empty() && questions_.empty() && !stopping_) {
        changed_.Wait(mutex_);
      }
      ends = stopping_;
      questions.swap(questions_);
      if (!ends) action = std::exchange(pending_, std::nullopt);
      if (!ends && !tasks_.empty()) {
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
    }
    for (const std::function<void()>& answer : questions) answer();
    if (ends) return;
    // Agents wait for the one, a person for the other: neither can keep the other from its turn.
    if (action) written_(action->write, Write(action->batch));
    if (task) task(absl::OkStatus());
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
