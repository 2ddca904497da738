#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "agent/src/grant_port.h"
#include "plimsoll/core/grant.h"
#include "plimsoll/core/reason.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// What is told about the limit beside its number: why it is what it is, and how often it moved.
// Written where grants are installed, which is one thread at a time; readers are thread-safe, wait
// for nothing, and may see numbers of two grants while one is written.
class LimitJournal {
 public:
  enum class Direction { kUp, kDown };

  // A function was put in force at `at`.
  void NoteGrant(const StepFunction& function, Instant at) {
    const bool in_lease = function.stamp > GrantStamp() && at < function.limit_end;
    NoteLimit(function.InForce(at), in_lease ? function.explanation.reason : kFallback);
    if (function.stamp == GrantStamp()) return;
    Store(algorithm_limit_, function.explanation.algorithm_limit);
    Store(quota_share_, function.explanation.quota_share);
    Store(floor_, function.explanation.floor);
    Store(ceiling_, function.explanation.ceiling);
    binding_.store(function.explanation.binding, std::memory_order_relaxed);
    // A controller that cannot confirm its reign may lower a limit; that makes no lease longer.
    if (in_lease && (function.limit_end > limit_end_ || at >= limit_end_)) {
      confirmed_ns_.store(at.ns, std::memory_order_relaxed);
    }
    if (in_lease) limit_end_ = function.limit_end;
    known_.store(true, std::memory_order_release);
  }
  // A step of the function has ended, and this is what is in force now.
  void NoteStep(Calls limit) { NoteLimit(limit, kFallback); }

  // Why the limit is what it is, by the newest grant; nothing before the first one. Without the
  // reason and the event.
  std::optional<Explanation> Newest() const {
    if (!known_.load(std::memory_order_acquire)) return std::nullopt;
    Explanation newest;
    newest.algorithm_limit = Load(algorithm_limit_);
    newest.quota_share = Load(quota_share_);
    newest.floor = Load(floor_);
    newest.ceiling = Load(ceiling_);
    newest.binding = binding_.load(std::memory_order_relaxed);
    return newest;
  }
  // When a lease was last granted or made longer; requires Newest().
  Instant confirmed() const { return {confirmed_ns_.load(std::memory_order_relaxed)}; }
  std::int64_t changes(Direction direction, Reason reason) const {
    return changes_[static_cast<std::size_t>(direction)][static_cast<std::size_t>(reason)].load(
        std::memory_order_relaxed);
  }

 private:
  static constexpr Reason kFallback = Reason::kFallbackEntered;

  static void Store(std::atomic<Calls>& into, Calls value) {
    into.store(value, std::memory_order_relaxed);
  }
  static Calls Load(const std::atomic<Calls>& from) { return from.load(std::memory_order_relaxed); }

  // What comes after a step that ended brings the limit back, whatever else its reason says.
  void NoteLimit(Calls limit, Reason reason) {
    const bool back = fallen_ && reason != kFallback && limit > limit_;
    const Direction direction = limit > limit_ ? Direction::kUp : Direction::kDown;
    fallen_ = reason == kFallback;
    if (limit == limit_) return;
    limit_ = limit;
    const Reason why = back ? Reason::kFallbackLeft : reason;
    changes_[static_cast<std::size_t>(direction)][static_cast<std::size_t>(why)].fetch_add(
        1, std::memory_order_relaxed);
  }

  // Confined to the writer.
  Instant limit_end_;  // of the newest lease
  Calls limit_ = 0;
  bool fallen_ = false;

  std::atomic<bool> known_{false};
  std::atomic<Calls> algorithm_limit_{0};
  std::atomic<Calls> quota_share_{0};
  std::atomic<Calls> floor_{0};
  std::atomic<Calls> ceiling_{0};
  std::atomic<BindingConstraint> binding_{BindingConstraint::kAlgorithm};
  std::atomic<std::int64_t> confirmed_ns_{0};
  std::array<std::array<std::atomic<std::int64_t>, kReasons>, 2> changes_{};
};

}  // namespace plimsoll::internal
