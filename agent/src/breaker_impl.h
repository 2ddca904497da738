#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "absl/time/time.h"
#include "agent/src/breaker_machine.h"
#include "agent/src/breaker_window.h"
#include "agent/src/breaker_word.h"
#include "plimsoll/agent/breaker.h"
#include "plimsoll/core/breaker.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::internal {

BreakerState StateOf(const BreakerWord& word);

// The word, the evidence, and who takes the steps of the machine. Every step is one
// compare-and-swap; who loses it looks again.
class BreakerImpl {
 public:
  using OnChange = std::function<void(const BreakerChange& change)>;

  // `settings` must be valid, and `clock` outlive it. Closed at first. Nobody will hold it open for
  // longer than `hold_max`.
  BreakerImpl(const BreakerSettings& settings, OnChange on_change, const Clock& clock,
              std::uint64_t seed, absl::Duration hold_max = absl::ZeroDuration());

  const Clock& clock() const { return clock_; }

  // The word that let the call in; else how long to stay away.
  struct Answer {
    std::optional<std::uint64_t> word;
    std::int64_t ns_left = 0;
  };
  Answer Enter(std::int64_t now_ns);
  void Finish(std::uint64_t word, Outcome outcome, std::int64_t entered_ns, std::int64_t now_ns);

  BreakerWord word() const { return BreakerWord::Unpack(word_.load(std::memory_order_acquire)); }
  BreakerSnapshot Snapshot() const;
  std::int64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  // Of the window; nothing is counted unless it is closed.
  BreakerEvidence Evidence(std::int64_t now_ns) const;

  // All evidence.
  void Forget();

  // Steps until `next(word)` is taken; returns false if that wants none.
  template <typename Next>
  bool Take(const Next& next, BreakerReason reason) {
    std::uint64_t before = word_.load(std::memory_order_acquire);
    while (true) {
      const std::optional<BreakerWord> after = next(BreakerWord::Unpack(before));
      if (!after.has_value()) return false;
      if (Step(before, *after, reason)) return true;
    }
  }
  const BreakerMachine& machine() const { return machine_; }

 private:
  bool EnterClosed(std::uint64_t word, std::int64_t now_ns);
  void Record(std::uint64_t word, Outcome outcome, std::int64_t entered_ns, std::int64_t now_ns);
  void EndProbe(std::uint64_t word, Outcome outcome, std::int64_t latency_ns, std::int64_t now_ns);
  void TripIfJudged(std::uint64_t word, std::int64_t now_ns);
  bool Step(std::uint64_t& before, const BreakerWord& after, BreakerReason reason);
  void Tell(BreakerState from, BreakerState to, BreakerReason reason);
  bool IsSlow(std::int64_t latency_ns) const { return latency_ns > slow_after_ns_; }

  const BreakerSettings settings_;
  const std::int64_t slow_after_ns_;  // the largest number if nothing is slow
  const OnChange on_change_;
  const Clock& clock_;
  const BreakerMachine machine_;
  BreakerWindow window_;

  alignas(64) std::atomic<std::uint64_t> word_{0};
  alignas(64) std::atomic<std::int64_t> in_a_row_{0};  // failures; successes write it only if not 0
  alignas(64) std::atomic<std::int64_t> refused_{0};
  std::atomic<std::int64_t> opened_{0};
  std::atomic<std::int64_t> reopened_{0};
  std::atomic<std::int64_t> probes_{0};
};

}  // namespace plimsoll::internal
