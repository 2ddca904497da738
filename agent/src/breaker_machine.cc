#include "agent/src/breaker_machine.h"

#include <algorithm>

#include "plimsoll/core/random.h"

namespace plimsoll::internal {
namespace {

using Phase = BreakerWord::Phase;

}  // namespace

BreakerMachine::BreakerMachine(const BreakerSettings& settings, std::uint64_t seed,
                               absl::Duration hold_max)
    : settings_(settings),
      seed_(seed),
      probe_deadline_ns_(absl::ToInt64Nanoseconds(settings.probe_deadline)),
      farthest_ns_(absl::ToInt64Nanoseconds(
          std::max({settings.cool_off_max, settings.probe_deadline, hold_max}))) {}

std::optional<BreakerWord> BreakerMachine::Enter(const BreakerWord& word,
                                                 std::int64_t now_ns) const {
  if (NsLeft(word, now_ns) > 0) return std::nullopt;
  BreakerWord next = word;
  next.phase = Phase::kProbing;
  ++next.generation;
  next.end = BreakerWord::EndAt(now_ns + probe_deadline_ns_);
  return BreakerWord::Unpack(next.Pack());
}

BreakerWord BreakerMachine::Open(const BreakerWord& word, int attempts, std::int64_t now_ns) const {
  BreakerWord next = Plain(word, Phase::kOpen);
  next.attempts = std::min(attempts, BreakerWord::kAttemptsMax);
  next.end = BreakerWord::EndAt(now_ns + JitteredCoolOff(next.attempts, next.generation));
  return next;
}

BreakerWord BreakerMachine::Hold(const BreakerWord& word, std::int64_t end_ns) {
  BreakerWord next = Plain(word, Phase::kOpen);
  next.attempts = word.attempts;
  next.end = BreakerWord::EndAt(end_ns);
  return next;
}

BreakerWord BreakerMachine::ProbeEnded(const BreakerWord& probing, ProbeResult result,
                                       std::int64_t now_ns) const {
  BreakerWord next = Plain(probing, Phase::kFree);
  next.attempts = probing.attempts;
  next.passed = probing.passed + (result == ProbeResult::kPassed ? 1 : 0);
  next.missed = probing.missed + (result == ProbeResult::kFailed ? 1 : 0);
  if (next.missed >= settings_.probe_failures_to_open)
    return Open(probing, probing.attempts + 1, now_ns);
  if (next.passed >= settings_.probes_to_close) return Plain(probing, Phase::kClosed);
  return next;
}

BreakerWord BreakerMachine::Plain(const BreakerWord& word, Phase phase) {
  BreakerWord next;
  next.phase = phase;
  next.generation = word.generation + 1;
  return BreakerWord::Unpack(next.Pack());  // the generation wraps
}

std::int64_t BreakerMachine::NsLeft(const BreakerWord& word, std::int64_t now_ns) const {
  return word.phase == Phase::kFree ? 0 : word.NsLeft(now_ns, farthest_ns_);
}

// Drawn from seed and generation, so that it needs no state and no lock.
std::int64_t BreakerMachine::JitteredCoolOff(int attempts, std::uint32_t generation) const {
  Random random(seed_ + generation);
  const double kept = 1 - settings_.cool_off_jitter * random.Uniform();
  return absl::ToInt64Nanoseconds(CoolOff(settings_, attempts) * kept);
}

}  // namespace plimsoll::internal
