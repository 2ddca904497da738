#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "agent/src/breaker_machine.h"
#include "agent/src/breaker_window.h"
#include "agent/src/breaker_word.h"
#include "plimsoll/agent/breaker.h"
#include "plimsoll/core/breaker.h"
#include "plimsoll/core/clock.h"

namespace plimsoll {

// The word, the evidence, and who takes the steps of the machine. Every step is one
// compare-and-swap; who loses it looks again.
class Breaker::Impl {
 public:
  Impl(BreakerOptions options, const Clock& clock, std::uint64_t seed);

  const Clock& clock() const { return clock_; }

  // The word that let the call in; else how long to stay away.
  struct Answer {
    std::optional<std::uint64_t> word;
    std::int64_t ns_left = 0;
  };
  Answer Enter(std::int64_t now_ns);
  void Finish(std::uint64_t word, Outcome outcome, std::int64_t entered_ns, std::int64_t now_ns);

  internal::BreakerWord word() const {
    return internal::BreakerWord::Unpack(word_.load(std::memory_order_acquire));
  }
  BreakerSnapshot Snapshot() const;
  // Of the window, if it is closed.
  BreakerEvidence Evidence(std::int64_t now_ns) const;

  // All evidence.
  void Forget();

  // Steps until `next(word)` is taken; returns false if that wants none.
  template <typename Next>
  bool Take(const Next& next, BreakerReason reason) {
    std::uint64_t before = word_.load(std::memory_order_acquire);
    while (true) {
      const std::optional<internal::BreakerWord> after =
          next(internal::BreakerWord::Unpack(before));
      if (!after.has_value()) return false;
      if (Step(before, *after, reason)) return true;
    }
  }
  const internal::BreakerMachine& machine() const { return machine_; }

 private:
  bool EnterClosed(std::uint64_t word, std::int64_t now_ns);
  void Record(std::uint64_t word, Outcome outcome, std::int64_t entered_ns, std::int64_t now_ns);
  void EndProbe(std::uint64_t word, Outcome outcome, std::int64_t latency_ns, std::int64_t now_ns);
  void TripIfJudged(std::uint64_t word, std::int64_t now_ns);
  bool Step(std::uint64_t& before, const internal::BreakerWord& after, BreakerReason reason);
  void Tell(BreakerState from, BreakerState to, BreakerReason reason);
  bool IsSlow(std::int64_t latency_ns) const;

  const BreakerOptions options_;
  const BreakerRules rules_;
  const Clock& clock_;
  const internal::BreakerMachine machine_;
  internal::BreakerWindow window_;

  alignas(64) std::atomic<std::uint64_t> word_{0};
  alignas(64) std::atomic<std::int64_t> in_a_row_{0};  // failures; successes write it only if not 0
  alignas(64) std::atomic<std::int64_t> refused_{0};
  std::atomic<std::int64_t> opened_{0};
  std::atomic<std::int64_t> reopened_{0};
  std::atomic<std::int64_t> probes_{0};
};

namespace internal {
BreakerState StateOf(const BreakerWord& word);
}  // namespace internal

}  // namespace plimsoll
