#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "plimsoll/core/time.h"
#include "plimsoll/simulation/virtual_clock.h"

namespace plimsoll::internal {

// What is to happen, by true time; of what is due at the same time, first in, first out.
// Thread-compatible.
class EventQueue {
 public:
  using Action = std::function<void()>;

  const TrueTime& time() const { return time_; }
  Instant now() const { return time_.now(); }

  // `at` may have passed: then it happens next. Infinite: never.
  void At(Instant at, Action action) {
    if (at == kInfiniteFuture) return;
    events_.push({at, next_++, std::move(action)});
  }
  void After(absl::Duration delay, Action action) { At(now() + delay, std::move(action)); }

  // When the earliest event is due; kInfiniteFuture if there is none.
  Instant next() const { return events_.empty() ? kInfiniteFuture : events_.top().at; }
  // Moves the time, which must not pass next(): for events that are kept elsewhere.
  void AdvanceTo(Instant at) { time_.AdvanceTo(at); }

  // Lets the earliest event happen and moves the time to it. False if there is none before `end`.
  bool Step(Instant end) {
    if (events_.empty() || events_.top().at >= end) return false;
    // A priority queue shows its top as const, but it is about to go.
    Action action = std::move(const_cast<Event&>(events_.top()).action);
    time_.AdvanceTo(events_.top().at);
    events_.pop();
    action();
    return true;
  }

 private:
  struct Event {
    Instant at;
    std::uint64_t order;
    Action action;

    // The queue's top is its largest.
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  TrueTime time_;
  std::uint64_t next_ = 0;
  std::priority_queue<Event> events_;
};

}  // namespace plimsoll::internal
