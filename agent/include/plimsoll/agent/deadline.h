#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace plimsoll {

// A moment by which something must have ended, on the lease clock: it is not slewed, and counts the
// time that the machine was suspended. A value; immutable; any thread may use it.
class Deadline {
 public:
  constexpr Deadline() = default;  // never
  static constexpr Deadline Never() { return Deadline(); }
  // `left` from now; at once if it is zero or negative, never if it is nanoseconds::max().
  static Deadline In(std::chrono::nanoseconds left);
  // The same moment of the steady clock, as read now.
  static Deadline At(std::chrono::steady_clock::time_point when);

  // The deadline of the work that this thread does now: the earliest of the DeadlineScopes that it
  // is in; Never() outside of all.
  static Deadline Current();

  constexpr bool never() const { return ns_ == kNever; }
  bool passed() const { return left() <= std::chrono::nanoseconds::zero(); }
  // Negative if it has passed; nanoseconds::max() if it is never.
  std::chrono::nanoseconds left() const;

  // The order is that of time: min() of two is what both allow.
  friend constexpr auto operator<=>(Deadline, Deadline) = default;

  // For parts whose clock is handed in: nanoseconds of the lease clock.
  static constexpr Deadline FromLeaseClock(std::int64_t ns) { return Deadline(ns); }
  constexpr std::int64_t lease_clock_ns() const { return ns_; }

 private:
  static constexpr std::int64_t kNever = INT64_MAX;

  explicit constexpr Deadline(std::int64_t ns) : ns_(ns) {}

  std::int64_t ns_ = kNever;
};

namespace internal {
// Not for use but by the two classes here.
extern thread_local constinit Deadline current_deadline;
}  // namespace internal

inline Deadline Deadline::Current() { return internal::current_deadline; }

// A budget that nested calls inherit: while it lives, Deadline::Current() of this thread is at most
// `deadline`. A nested scope can only shorten it, so no layer gets a fresh budget of its own.
// Confined to the thread that made it; scopes end in the reverse order of their beginning. A
// coroutine that may go on in another thread, and a task given to a pool, hand the deadline on as a
// value and open a scope there.
class [[nodiscard]] DeadlineScope {
 public:
  explicit DeadlineScope(Deadline deadline);
  ~DeadlineScope();
  DeadlineScope(const DeadlineScope&) = delete;
  DeadlineScope& operator=(const DeadlineScope&) = delete;

  Deadline deadline() const { return current_; }

 private:
  const Deadline before_;
  const Deadline current_;
};

}  // namespace plimsoll
