#pragma once

#include <cstdint>

namespace plimsoll::internal {

// All that decides whether a call may pass a breaker, as it lies in one atomic word:
//
//   bits 61..63  phase        bits 48..52  attempts: how often probes have failed since it opened
//   bits 57..60  passed       bits 28..47  generation, modulo 2^20
//   bits 53..56  missed       bits 0..27   end, in units of 2^20 ns, modulo 2^28
//
// A breaker that is closed is the generation alone, so all calls of one closed time carry the same
// word. The generation rises with every step, thus a word that a ticket carries is current exactly
// if nothing has happened since, unless a million steps have.
struct BreakerWord {
  enum class Phase : std::uint8_t {
    kClosed,
    kOpen,     // until `end`
    kFree,     // half-open, and no probe is out
    kProbing,  // half-open, and a probe is out; its place is free again at `end`
    kForcedOpen,
    kDisabled,
  };

  Phase phase = Phase::kClosed;
  int passed = 0;  // probes of this half-open time that succeeded
  int missed = 0;  // that failed
  int attempts = 0;
  std::uint32_t generation = 0;
  std::uint32_t end = 0;

  static constexpr int kProbesMax = 15;
  static constexpr int kAttemptsMax = 31;
  static constexpr int kUnitLog2 = 20;  // about a millisecond
  static constexpr int kEndBits = 28;   // about 78 hours
  static constexpr std::uint32_t kEndMask = (std::uint32_t{1} << kEndBits) - 1;

  friend constexpr bool operator==(const BreakerWord&, const BreakerWord&) = default;

  constexpr std::uint64_t Pack() const {
    return (static_cast<std::uint64_t>(phase) << 61) | (static_cast<std::uint64_t>(passed) << 57) |
           (static_cast<std::uint64_t>(missed) << 53) |
           (static_cast<std::uint64_t>(attempts) << 48) |
           (static_cast<std::uint64_t>(generation & kGenerationMask) << kEndBits) |
           (end & kEndMask);
  }
  static constexpr BreakerWord Unpack(std::uint64_t word) {
    return {static_cast<Phase>(word >> 61),
            static_cast<int>((word >> 57) & 15),
            static_cast<int>((word >> 53) & 15),
            static_cast<int>((word >> 48) & 31),
            static_cast<std::uint32_t>(word >> kEndBits) & kGenerationMask,
            static_cast<std::uint32_t>(word) & kEndMask};
  }
  static constexpr bool IsClosed(std::uint64_t word) { return (word >> 61) == 0; }

  // The first unit that begins at `ns` or later.
  static constexpr std::uint32_t EndAt(std::int64_t ns) {
    const auto unit = std::uint64_t{1} << kUnitLog2;
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(ns) + unit - 1) >> kUnitLog2) &
           kEndMask;
  }
  // From `now` to the end, modulo the range; at most a unit below zero.
  constexpr std::int64_t NsAhead(std::int64_t now_ns) const {
    const auto now = static_cast<std::uint64_t>(now_ns);
    const std::uint64_t units = (end - static_cast<std::uint32_t>(now >> kUnitLog2)) & kEndMask;
    return static_cast<std::int64_t>(units << kUnitLog2) -
           static_cast<std::int64_t>(now & ((std::uint64_t{1} << kUnitLog2) - 1));
  }
  // None is ever set further ahead than `farthest` of the time it was set: it has passed and the
  // distance has wrapped, or `now` is older than the word.
  constexpr bool IsBeyond(std::int64_t now_ns, std::int64_t farthest_ns) const {
    return NsAhead(now_ns) > farthest_ns + (std::int64_t{1} << kUnitLog2);
  }
  // 0 if the end has passed. `now` must not be older than the word.
  constexpr std::int64_t NsLeft(std::int64_t now_ns, std::int64_t farthest_ns) const {
    const std::int64_t ahead = NsAhead(now_ns);
    return ahead > 0 && !IsBeyond(now_ns, farthest_ns) ? ahead : 0;
  }

 private:
  static constexpr std::uint32_t kGenerationMask = (std::uint32_t{1} << 20) - 1;
};

}  // namespace plimsoll::internal
