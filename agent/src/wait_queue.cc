#include "agent/src/wait_queue.h"

#include <utility>

#include "plimsoll/core/check.h"

namespace plimsoll::internal {

WaitQueue::WaitQueue(const QueueOptions& options)
    : options_(options),
      codel_(absl::FromChrono(options.codel_target), absl::FromChrono(options.codel_interval)) {}

Waiter* WaitQueue::Push(Waiter& waiter, Instant now) {
  PLIMSOLL_CHECK(!waiter.standing, "one waits at one place");
  Waiter* gone = nullptr;
  if (size_ >= options_.capacity) {
    gone = LastOfLeastImportant();
    if (gone == nullptr || gone->priority <= waiter.priority) return &waiter;
    Remove(*gone);
  }
  if (empty()) filled_ = now;
  waiter.since = now;
  Append(waiter);
  return gone;
}

Waiter* WaitQueue::LastOfLeastImportant() const {
  for (std::size_t priority = lines_.size(); priority-- > 0;) {
    if (lines_[priority].last != nullptr) return lines_[priority].last;
  }
  return nullptr;
}

void WaitQueue::Append(Waiter& waiter) {
  Line& line = lines_.at(waiter.priority);
  waiter.standing = true;
  waiter.behind = nullptr;
  waiter.ahead = std::exchange(line.last, &waiter);
  (waiter.ahead == nullptr ? line.first : waiter.ahead->behind) = &waiter;
  ++size_;
  units_ += waiter.cost;
}

bool WaitQueue::NewestFirst(Instant now) const {
  return options_.order == QueueOrder::kAdaptiveLifo &&
         now - filled_ >= absl::FromChrono(options_.codel_interval);
}

Waiter* WaitQueue::Next(Instant now) const {
  for (const Line& line : lines_) {
    if (line.first != nullptr) return NewestFirst(now) ? line.last : line.first;
  }
  return nullptr;
}

void WaitQueue::Take(Waiter& waiter, Instant now) {
  codel_.Note(now - waiter.since, now);
  Remove(waiter);
}

void WaitQueue::Remove(Waiter& waiter) {
  PLIMSOLL_CHECK(waiter.standing, "only one who waits can leave");
  Line& line = lines_.at(waiter.priority);
  (waiter.ahead == nullptr ? line.first : waiter.ahead->behind) = waiter.behind;
  (waiter.behind == nullptr ? line.last : waiter.behind->ahead) = waiter.ahead;
  waiter.standing = false;
  --size_;
  units_ -= waiter.cost;
  if (empty()) codel_.RanEmpty();
}

bool WaitQueue::Blocks(std::size_t priority) const {
  for (std::size_t line = 0; line <= priority && line < lines_.size(); ++line) {
    if (lines_[line].first != nullptr) return true;
  }
  return false;
}

}  // namespace plimsoll::internal
