#pragma once

#include <cstdint>
#include <optional>

#include "agent/src/breaker_word.h"
#include "plimsoll/core/breaker.h"

namespace plimsoll::internal {

// What a probe has shown.
enum class ProbeResult { kPassed, kFailed, kNothing };

// The steps of a breaker, as pure functions of its word: who calls them stores the answer if the
// word is still the one they were given. Immutable, so any thread may use it.
//
//            Trip                Enter, cool-off over            as many passed as close
//   kClosed ──────► kOpen ───────────────────────────► kProbing ─────────────────────────► kClosed
//                     ▲                                  │ ▲ │
//                     │ as many missed as open           │ │ │ nothing, or not enough yet
//                     └──────────────────────────────────┘ │ ▼
//                                         Enter, and after │ kFree
//                                         the deadline     └──┘
//
// kProbing is left by the result of the probe, or by its deadline, and then to another probe: there
// is no way that skips it, so a half-open breaker never lets in two and never waits for nobody.
class BreakerMachine {
 public:
  // No end is ever set further ahead than the cool-off, the probe's deadline or `hold_max`.
  BreakerMachine(const BreakerSettings& settings, std::uint64_t seed,
                 absl::Duration hold_max = absl::ZeroDuration());

  // The step by which a call is let in as the probe; none if it must stay out. For kOpen, kFree and
  // kProbing.
  std::optional<BreakerWord> Enter(const BreakerWord& word, std::int64_t now_ns) const;

  // Open for a cool-off; `attempts` is how often probes have failed before.
  BreakerWord Open(const BreakerWord& word, int attempts, std::int64_t now_ns) const;
  BreakerWord Trip(const BreakerWord& closed, std::int64_t now_ns) const {
    return Open(closed, 0, now_ns);
  }

  // Open until `end`, by somebody's order; a cool-off that follows grows from where it was.
  static BreakerWord Hold(const BreakerWord& word, std::int64_t end_ns);

  // The step that the end of the probe makes. For kProbing, by the word that let the probe in.
  BreakerWord ProbeEnded(const BreakerWord& probing, ProbeResult result, std::int64_t now_ns) const;

  // The next generation, in this phase and with nothing else.
  static BreakerWord Plain(const BreakerWord& word, BreakerWord::Phase phase);

  // Until Enter() lets a call in. Like there, `now` must not be older than the word: see
  // IsBeyond().
  std::int64_t NsLeft(const BreakerWord& word, std::int64_t now_ns) const;
  // The longest an end may lie ahead.
  std::int64_t farthest_ns() const { return farthest_ns_; }

 private:
  std::int64_t JitteredCoolOff(int attempts, std::uint32_t generation) const;

  const BreakerSettings settings_;
  const std::uint64_t seed_;
  const std::int64_t probe_deadline_ns_;
  const std::int64_t farthest_ns_;
};

}  // namespace plimsoll::internal
