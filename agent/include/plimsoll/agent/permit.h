#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "plimsoll/agent/deadline.h"
#include "plimsoll/agent/outcome.h"

namespace plimsoll {

namespace internal {
class Limiter;

// What a permit keeps of its call, to give back at the end what was taken at its admission.
struct HeldCall {
  std::int64_t admitted_ns;   // on the lease clock, like the next
  std::int64_t deadline_ns;   // the largest number if there is none
  std::int32_t cost = 1;      // units
  std::uint32_t tenant = 0;   // where it is counted; 0: nowhere
  std::uint32_t watched = 0;  // the slot that watches its age; 0: none
};
}  // namespace internal

// Why a call was refused.
enum class Rejection {
  kLimit,        // as many calls are in flight as the limit allows
  kQueueFull,    // as many callers wait as may wait
  kDeadline,     // the caller's deadline cannot be met
  kBreakerOpen,  // the circuit breaker is open
  kDraining,     // the agent is leaving, or gone
  kTenant,       // the tenant has as many calls in flight as one may
};
inline constexpr int kRejections = 6;
// "limit", "queue_full", …; of static storage.
std::string_view ToString(Rejection rejection);

// The right to one call in flight. It ends exactly once: by Succeed(), Drop(), Ignore() or
// Finish(), the first of them that is called; further ones do nothing. A permit that is destroyed
// without an ending, as by an exception, counts as ignored and as leaked. It may outlive its
// bulkhead and its agent.
// Thread-compatible: it may be handed to another thread, but not used by two at once.
class Permit {
 public:
  // Only a limiter can make one.
  class Key {
    friend class internal::Limiter;
    constexpr Key() = default;
  };
  Permit(Key /*key*/, internal::Limiter* limiter, const internal::HeldCall& call)
      : limiter_(limiter), call_(call) {}
  Permit(Permit&& other) noexcept
      : limiter_(std::exchange(other.limiter_, nullptr)), call_(other.call_) {}
  Permit& operator=(Permit&& other) noexcept;
  ~Permit() {
    if (limiter_ != nullptr) Leak();
  }

  // The call came back, with a result or with an error that has nothing to do with load. Its
  // latency is a sample.
  void Succeed();
  // The call was refused, timed out or failed because the dependency has too much to do: a sign
  // that the limit is too high. Its latency is a sample.
  void Drop();
  // The call says nothing about the dependency: it was cancelled, or never sent. No sample.
  void Ignore();

  // The same by one word for every layer, which also tells metrics the kind of a failure.
  void Finish(Outcome outcome);

  // Units of the limit that the call takes, as CallOptions::cost said.
  int cost() const { return call_.cost; }

  // When the call must have ended: its admission plus the policy's call deadline at that time, or
  // the caller's own deadline if that is earlier. The quota counts on it, so hand it to your client
  // as the time-out of the whole call, and check it last before sending. time_point::max() if there
  // is no deadline.
  std::chrono::steady_clock::time_point deadline() const;
  // The same as a duration from now: zero or negative if it has passed, zero if the permit has
  // ended, nanoseconds::max() if there is no deadline.
  std::chrono::nanoseconds time_left() const;
  // The same as a value to hand on, without a clock read; also after the permit has ended.
  Deadline due() const { return Deadline::FromLeaseClock(call_.deadline_ns); }

 private:
  friend class internal::Limiter;

  void Leak();

  internal::Limiter* limiter_;  // null once ended
  internal::HeldCall call_;
};

// What TryAcquire() answers: a permit, or why there is none. Use it like a std::optional.
class [[nodiscard]] Admission {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): reads as "return the permit".
  Admission(Permit permit) : permit_(std::move(permit)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Admission(Rejection rejection) : rejection_(rejection) {}
  // The permit, made in its place.
  Admission(Permit::Key key, internal::Limiter* limiter, const internal::HeldCall& call)
      : permit_(std::in_place, key, limiter, call) {}

  explicit operator bool() const { return permit_.has_value(); }
  bool has_value() const { return permit_.has_value(); }
  // All three require has_value().
  Permit* operator->() { return &*permit_; }
  Permit& operator*() & { return *permit_; }
  Permit&& operator*() && { return std::move(*permit_); }

  // Requires !has_value().
  Rejection rejection() const { return rejection_; }

 private:
  std::optional<Permit> permit_;
  Rejection rejection_ = Rejection::kLimit;
};

}  // namespace plimsoll
