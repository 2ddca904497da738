#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "plimsoll/agent/breaker_options.h"
#include "plimsoll/agent/outcome.h"

namespace plimsoll {

class Breaker;
class Clock;
namespace internal {
class BreakerControl;
class BreakerImpl;
}  // namespace internal

// The right to one call past a breaker. It ends exactly once, by the first Finish(); one that is
// destroyed without ends as kIgnored. Must not outlive its breaker. Thread-compatible: it may be
// handed to another thread, but not used by two at once.
class BreakerTicket {
 public:
  BreakerTicket(BreakerTicket&& other) noexcept
      : impl_(std::exchange(other.impl_, nullptr)),
        entered_ns_(other.entered_ns_),
        word_(other.word_) {}
  BreakerTicket& operator=(BreakerTicket&& other) noexcept;
  ~BreakerTicket();

  // How the call ended. kIgnored at once if it is not sent after all, because a later rule of the
  // process refused it: a probe's place is then free for the next.
  void Finish(Outcome outcome);
  // The same, without a clock read: `latency` is the time since TryEnter().
  void Finish(Outcome outcome, std::chrono::nanoseconds latency);

  // This call decides whether the breaker closes. False once it has ended.
  bool probe() const;

 private:
  friend class Breaker;
  BreakerTicket(internal::BreakerImpl* impl, std::int64_t entered_ns, std::uint64_t word)
      : impl_(impl), entered_ns_(entered_ns), word_(word) {}

  internal::BreakerImpl* impl_;  // null once ended
  std::int64_t entered_ns_;      // on the breaker's clock
  std::uint64_t word_;           // the breaker's state that let it in
};

// What TryEnter() answers: a ticket, or how long to stay away. Use it like a std::optional.
class [[nodiscard]] BreakerEntry {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): reads as "return the ticket".
  BreakerEntry(BreakerTicket ticket) : ticket_(std::move(ticket)) {}
  explicit BreakerEntry(std::chrono::nanoseconds retry_after) : retry_after_(retry_after) {}

  explicit operator bool() const { return ticket_.has_value(); }
  bool has_value() const { return ticket_.has_value(); }
  // All three require has_value().
  BreakerTicket* operator->() { return &*ticket_; }
  BreakerTicket& operator*() & { return *ticket_; }
  BreakerTicket&& operator*() && { return std::move(*ticket_); }

  // Requires !has_value(). Before that has passed, a try is in vain, unless a probe ends early;
  // nanoseconds::max() if an operator forced it open.
  std::chrono::nanoseconds retry_after() const { return retry_after_; }

 private:
  std::optional<BreakerTicket> ticket_;
  std::chrono::nanoseconds retry_after_{0};
};

struct BreakerSnapshot {
  BreakerState state = BreakerState::kClosed;
  std::int64_t opened = 0;    // how often it went from closed to open
  std::int64_t reopened = 0;  // how often probes failed
  std::int64_t refused = 0;   // calls
  std::int64_t probes = 0;    // calls let through as a probe
  // Of the window now; zeros unless closed.
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;  // without those that hang
  std::int64_t slow = 0;    // likewise
  std::int64_t hanging = 0;
  std::int64_t failures_in_a_row = 0;
  // Until the next call will be let through as a probe, or the place of the one that is out is free
  // again; zero if it is closed, disabled or a call would be let through now; max() if forced open.
  std::chrono::nanoseconds next_probe{0};
};

// Stops calls to a dependency that fails, and lets them through again when it has come back.
// Usable alone: one that Make() made knows nothing of bulkheads, agents and controllers. That of
// Agent::breaker() is one with those of all other instances.
//
// State, generation and the end of the cool-off or of the probe are one atomic word, so there is
// no moment at which two calls can both be the probe, and none at which nobody will ever be.
// A call that was let in by an earlier generation changes nothing any more.
//
// Thread-safe. While it is closed, TryEnter() and Finish() wait for nothing and allocate nothing.
class Breaker {
 public:
  // A clock and a seed of one's own, for tests; the clock must outlive the breaker.
  struct Sources {
    const Clock* clock = nullptr;       // null: the real one
    std::optional<std::uint64_t> seed;  // of the jitter; none: from the operating system
  };

  // kInvalidArgument if Validate(options) finds faults.
  static absl::StatusOr<std::unique_ptr<Breaker>> Make(BreakerOptions options);
  static absl::StatusOr<std::unique_ptr<Breaker>> Make(BreakerOptions options, Sources sources);
  ~Breaker();
  Breaker(const Breaker&) = delete;
  Breaker& operator=(const Breaker&) = delete;

  // A ticket if the call may start. Never waits.
  BreakerEntry TryEnter();
  // The same without a clock read: `lease_clock_ns` is now, as Deadline counts it.
  BreakerEntry TryEnterAt(std::int64_t lease_clock_ns);

  // A breaker whose cool-off has passed is still kOpen, until a call comes.
  BreakerState state() const;
  BreakerSnapshot Snapshot() const;

  // An operator's word, for emergencies and for rehearsing them. kForcedOpen and kDisabled stay
  // until the next word. kClosed forgets all evidence; kOpen begins a cool-off; after kHalfOpen the
  // next call is a probe.
  void Force(BreakerState state);

 private:
  friend class internal::BreakerControl;
  explicit Breaker(std::unique_ptr<internal::BreakerImpl> impl);

  std::atomic<internal::BreakerImpl*> impl_;  // the newest
  // All there were: tickets may refer to them. Of more than one only in an Agent, whose thread puts
  // another in place when the policy has changed.
  std::vector<std::unique_ptr<internal::BreakerImpl>> kept_;
};

}  // namespace plimsoll
