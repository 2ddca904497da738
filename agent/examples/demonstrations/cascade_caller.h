#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "agent/examples/demonstrations/cascade_dependency.h"
#include "plimsoll/agent/breaker.h"
#include "plimsoll/agent/outcome.h"
#include "plimsoll/agent/permit.h"
#include "plimsoll/agent/thread_pool.h"
#include "plimsoll/core/histogram.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/core/time.h"

namespace plimsoll::demonstrations {

// How long a caller waits for an answer: the time-out of the client, and of the task as a whole.
inline constexpr absl::Duration kPatience = absl::Seconds(3);

// What became of the calls of one dependency.
struct CallTally {
  std::int64_t offered = 0;
  std::int64_t succeeded = 0;
  std::int64_t errors = 0;
  std::int64_t timed_out = 0;                       // while a thread had it
  std::array<std::int64_t, kRejections> refused{};  // by Rejection; kDeadline: while it was queued
  // From the scheduled arrival, of all that were not refused at once. Who was not answered in time
  // has waited for kPatience.
  LatencyHistogram latency;

  std::int64_t refused_by(Rejection why) const { return refused[static_cast<std::size_t>(why)]; }
  double success() const {
    return offered == 0 ? 0 : static_cast<double>(succeeded) / static_cast<double>(offered);
  }
};

// How calls of one dependency are made.
struct Route {
  Dependency* dependency = nullptr;
  ThreadPool* pool = nullptr;
  Breaker* breaker = nullptr;  // null: none
  double calls_per_second = 0;
};

// Offers calls by a schedule of their own, whether or not earlier ones have been answered. A thread
// for the arrivals, one that takes the results. Confined to the thread that made it.
class Caller {
 public:
  // What arrives from `begin` on is made, and from `counted_from` on is counted.
  Caller(const Route& route, std::uint64_t seed, Instant begin, Instant counted_from, Instant end);
  ~Caller();
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  // Waits until the last call has been answered or given up.
  CallTally Finish();

 private:
  // One call, as a thread of the pool makes it.
  struct Task {
    Dependency* dependency;
    std::optional<BreakerTicket> ticket;  // ends as ignored if the task never runs

    std::pair<Outcome, Instant> operator()();
  };
  struct Pending {
    PoolCall<Task> call;
    Instant scheduled;
  };

  void OfferAll();
  void Offer(Instant scheduled);
  void CollectAll();
  void Collect(Pending pending);
  std::optional<Pending> NextPending();
  void Refused(Rejection why, Instant scheduled);

  const Route route_;
  const std::uint64_t seed_;
  const Instant begin_;
  const Instant counted_from_;
  const Instant end_;

  Mutex mutex_;
  CondVar changed_;
  std::deque<Pending> pending_ ABSL_GUARDED_BY(mutex_);
  bool offered_all_ ABSL_GUARDED_BY(mutex_) = false;
  CallTally tally_ ABSL_GUARDED_BY(mutex_);

  std::thread offering_;
  std::thread collecting_;
};

}  // namespace plimsoll::demonstrations
