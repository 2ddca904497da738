#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "agent/src/codel.h"
#include "plimsoll/agent/bulkhead_options.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// One who waits. Stays where it is while it stands in a queue.
struct Waiter {
  std::size_t priority = 0;  // 0 is the most important class
  Calls cost = 1;
  Instant since;                        // when it came
  Instant leaves = kInfiniteFuture;     // waits no longer than until then
  Instant answer_by = kInfiniteFuture;  // when its call must have ended

  // The queue's.
  bool standing = false;
  Waiter* ahead = nullptr;  // in its class
  Waiter* behind = nullptr;
};

// How long it makes sense to wait, if a call takes `service_time`.
inline Instant LastUse(const Waiter& waiter, absl::Duration service_time) {
  return std::min(waiter.leaves, waiter.answer_by - service_time);
}

// Those who wait for room, and whose turn it is. A pure state machine: knows neither the limit nor
// a clock, admits nobody, and owns nobody. All operations are O(1). Thread-compatible.
//
// - A more important class goes first. Its next one blocks all others, even if they would fit and
//   it does not: so a costly call is not starved by cheap ones.
// - Within a class the first come goes first; with kAdaptiveLifo the newest, once the queue has not
//   been empty for the interval.
class WaitQueue {
 public:
  explicit WaitQueue(const QueueOptions& options);

  // Puts it at the end of its class. If the queue is full, one has to go and is returned: the last
  // of the least important class, if the newcomer is more important than that; else the newcomer.
  // Null if there was a place. Requires priority < kPriorityClassesMax.
  [[nodiscard]] Waiter* Push(Waiter& waiter, Instant now);

  // Whose turn it is. Null if nobody waits. Stays the same if nobody comes or goes, but for the
  // moment at which the order turns round.
  Waiter* Next(Instant now) const;

  // False: it waited for too long and is to be refused if its turn comes now (CoDel).
  bool Allows(const Waiter& waiter, Instant now) const {
    return codel_.Allows(now - waiter.since, now);
  }
  // Takes out the one whose turn it is, as there is room for it, allowed or not.
  void Take(Waiter& waiter, Instant now);

  // Takes out one that gives up. Requires that it stands here.
  void Remove(Waiter& waiter);

  // Whether a newcomer of this class may not pass: somebody of its class or a more important one
  // waits.
  bool Blocks(std::size_t priority) const;

  // In no particular order; the function must leave the queue alone.
  template <typename Function>
  void ForEach(Function function) const {
    for (const Line& line : lines_) {
      for (Waiter* waiter = line.first; waiter != nullptr; waiter = waiter->behind) {
        function(*waiter);
      }
    }
  }

  bool empty() const { return size_ == 0; }
  int size() const { return size_; }
  std::int64_t units() const { return units_; }  // of all who wait

 private:
  struct Line {
    Waiter* first = nullptr;
    Waiter* last = nullptr;
  };

  bool NewestFirst(Instant now) const;
  Waiter* LastOfLeastImportant() const;
  void Append(Waiter& waiter);

  const QueueOptions options_;
  Codel codel_;
  std::array<Line, kPriorityClassesMax> lines_;
  int size_ = 0;
  std::int64_t units_ = 0;
  Instant filled_;  // when somebody came who found nobody; while somebody waits
};

}  // namespace plimsoll::internal
