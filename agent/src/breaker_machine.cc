#include "agent/src/breaker_machine.h"

#include <algorithm>

#include "plimsoll/core/random.h"

namespace plimsoll::internal {
namespace {

using Phase = BreakerWord::Phase;

}  // namespace

BreakerMachine::BreakerMachine(const BreakerOptions& options, std::uint64_t seed)
    : seed_(seed),
      probe_deadline_ns_(options.probe_deadline.count()),
      farthest_ns_(std::max(options.cool_off_max, options.probe_deadline).count()),
      jitter_(options.cool_off_jitter),
      probes_to_close_(options.probes_to_close),
      probe_failures_to_open_(options.probe_failures_to_open) {
  double cool_off = static_cast<double>(options.cool_off.count());
  const auto longest = static_cast<double>(options.cool_off_max.count());
  for (double& each : cool_off_ns_) {
    each = std::min(cool_off, longest);
    cool_off = each * options.cool_off_growth;
  }
}

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
  next.end = BreakerWord::EndAt(now_ns + CoolOff(next.attempts, next.generation));
  return next;
}

BreakerWord BreakerMachine::ProbeEnded(const BreakerWord& probing, ProbeResult result,
                                       std::int64_t now_ns) const {
  BreakerWord next = Plain(probing, Phase::kFree);
  next.attempts = probing.attempts;
  next.passed = probing.passed + (result == ProbeResult::kPassed ? 1 : 0);
  next.missed = probing.missed + (result == ProbeResult::kFailed ? 1 : 0);
  if (next.missed >= probe_failures_to_open_) return Open(probing, probing.attempts + 1, now_ns);
  if (next.passed >= probes_to_close_) return Plain(probing, Phase::kClosed);
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
std::int64_t BreakerMachine::CoolOff(int attempts, std::uint32_t generation) const {
  Random random(seed_ + generation);
  const double kept = 1 - jitter_ * random.Uniform();
  return static_cast<std::int64_t>(cool_off_ns_[static_cast<std::size_t>(attempts)] * kept);
}

}  // namespace plimsoll::internal
