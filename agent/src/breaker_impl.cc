#include "agent/src/breaker_impl.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace plimsoll::internal {

BreakerState StateOf(const BreakerWord& word) {
  switch (word.phase) {
    case BreakerWord::Phase::kClosed:
      return BreakerState::kClosed;
    case BreakerWord::Phase::kOpen:
      return BreakerState::kOpen;
    case BreakerWord::Phase::kFree:
    case BreakerWord::Phase::kProbing:
      return BreakerState::kHalfOpen;
    case BreakerWord::Phase::kForcedOpen:
      return BreakerState::kForcedOpen;
    case BreakerWord::Phase::kDisabled:
      return BreakerState::kDisabled;
  }
  return BreakerState::kClosed;
}

namespace {

using Phase = BreakerWord::Phase;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

BreakerReason ReasonOf(BreakerRule rule) {
  switch (rule) {
    case BreakerRule::kFailuresInARow:
      return BreakerReason::kFailuresInARow;
    case BreakerRule::kFailureRate:
      return BreakerReason::kFailureRate;
    case BreakerRule::kSlowRate:
      return BreakerReason::kSlowRate;
  }
  return BreakerReason::kFailureRate;
}

bool IsFailure(Outcome outcome) {
  return outcome == Outcome::kError || outcome == Outcome::kTimeout;
}

}  // namespace

BreakerImpl::BreakerImpl(const BreakerSettings& settings, OnChange on_change, const Clock& clock,
                         std::uint64_t seed, absl::Duration hold_max)
    : settings_(settings),
      slow_after_ns_(settings.rules.slow_rate > 0 ? absl::ToInt64Nanoseconds(settings.slow_after)
                                                  : kNever),
      on_change_(std::move(on_change)),
      clock_(clock),
      machine_(settings, seed, hold_max),
      window_(absl::ToInt64Nanoseconds(settings.window),
              absl::ToInt64Nanoseconds(settings.hang_after)) {}

BreakerImpl::Answer BreakerImpl::Enter(std::int64_t now_ns) {
  std::uint64_t before = word_.load(std::memory_order_acquire);
  while (true) {
    const BreakerWord word = BreakerWord::Unpack(before);
    if (word.phase == Phase::kClosed && EnterClosed(before, now_ns)) return {before};
    if (word.phase == Phase::kClosed) {
      before = word_.load(std::memory_order_acquire);
      continue;
    }
    if (word.phase == Phase::kDisabled) return {before};
    // The caller may have read the clock before the word was written, and been put aside.
    const bool has_end = word.phase == Phase::kOpen || word.phase == Phase::kProbing;
    if (has_end && word.IsBeyond(now_ns, machine_.farthest_ns())) {
      now_ns = std::max(now_ns, clock_.Now().ns);
    }
    const bool forced = word.phase == Phase::kForcedOpen;
    const std::optional<BreakerWord> probe = forced ? std::nullopt : machine_.Enter(word, now_ns);
    if (!probe.has_value()) {
      refused_.fetch_add(1, std::memory_order_relaxed);
      return {std::nullopt, forced ? kNever : machine_.NsLeft(word, now_ns)};
    }
    if (!Step(before, *probe, BreakerReason::kProbing)) continue;
    probes_.fetch_add(1, std::memory_order_relaxed);
    return {probe->Pack()};
  }
}

// False if the call has found out that others hang, and must look again.
bool BreakerImpl::EnterClosed(std::uint64_t word, std::int64_t now_ns) {
  if (!window_.Start(now_ns)) [[likely]]
    return true;
  TripIfJudged(word, now_ns);
  if (word_.load(std::memory_order_relaxed) == word) return true;
  window_.Leave(now_ns);
  return false;
}

void BreakerImpl::Finish(std::uint64_t word, Outcome outcome, std::int64_t entered_ns,
                         std::int64_t now_ns) {
  if (word_.load(std::memory_order_acquire) != word) return;  // of an earlier generation
  if (BreakerWord::IsClosed(word)) [[likely]] {
    Record(word, outcome, entered_ns, now_ns);
  } else if (BreakerWord::Unpack(word).phase == Phase::kProbing) {
    EndProbe(word, outcome, now_ns - entered_ns, now_ns);
  }
}

void BreakerImpl::Record(std::uint64_t word, Outcome outcome, std::int64_t entered_ns,
                         std::int64_t now_ns) {
  if (outcome == Outcome::kSuccess) {
    bool look = window_.Succeed(entered_ns, now_ns);
    if (in_a_row_.load(std::memory_order_relaxed) != 0) {
      in_a_row_.store(0, std::memory_order_relaxed);
    }
    if (IsSlow(now_ns - entered_ns)) {
      window_.AddSlow(now_ns);
      look = true;
    }
    if (look) TripIfJudged(word, now_ns);
  } else if (IsFailure(outcome)) {
    window_.Fail(entered_ns, now_ns, IsSlow(now_ns - entered_ns));
    in_a_row_.fetch_add(1, std::memory_order_relaxed);
    TripIfJudged(word, now_ns);
  } else {
    window_.Leave(entered_ns);
  }
}

void BreakerImpl::EndProbe(std::uint64_t word, Outcome outcome, std::int64_t latency_ns,
                           std::int64_t now_ns) {
  ProbeResult result = ProbeResult::kNothing;
  if (IsFailure(outcome) || (outcome == Outcome::kSuccess && IsSlow(latency_ns))) {
    result = ProbeResult::kFailed;
  } else if (outcome == Outcome::kSuccess) {
    result = ProbeResult::kPassed;
  }
  const BreakerWord after = machine_.ProbeEnded(BreakerWord::Unpack(word), result, now_ns);
  if (after.phase == Phase::kClosed) {
    Forget();  // before anybody can come in: nobody counts while it is half-open
  }
  Step(word, after,
       after.phase == Phase::kOpen ? BreakerReason::kProbeFailed : BreakerReason::kProbesPassed);
}

void BreakerImpl::Forget() {
  window_.Clear();
  in_a_row_.store(0, std::memory_order_relaxed);
}

void BreakerImpl::TripIfJudged(std::uint64_t word, std::int64_t now_ns) {
  const std::optional<BreakerRule> rule = Judge(settings_.rules, Evidence(now_ns));
  if (!rule.has_value()) return;
  Step(word, machine_.Trip(BreakerWord::Unpack(word), now_ns), ReasonOf(*rule));
}

// False if the word was another one; `before` is that then.
bool BreakerImpl::Step(std::uint64_t& before, const BreakerWord& after, BreakerReason reason) {
  const BreakerState from = StateOf(BreakerWord::Unpack(before));
  if (!word_.compare_exchange_strong(before, after.Pack(), std::memory_order_acq_rel)) return false;
  const BreakerState to = StateOf(after);
  if (from != to) Tell(from, to, reason);
  return true;
}

void BreakerImpl::Tell(BreakerState from, BreakerState to, BreakerReason reason) {
  if (to == BreakerState::kOpen) {
    auto& count = from == BreakerState::kClosed ? opened_ : reopened_;
    count.fetch_add(1, std::memory_order_relaxed);
  }
  if (on_change_) on_change_({from, to, reason});
}

BreakerEvidence BreakerImpl::Evidence(std::int64_t now_ns) const {
  BreakerEvidence evidence = window_.Read(now_ns);
  evidence.failures_in_a_row = in_a_row_.load(std::memory_order_relaxed);
  return evidence;
}

BreakerSnapshot BreakerImpl::Snapshot() const {
  const std::int64_t now_ns = clock_.Now().ns;
  const BreakerWord now = word();
  BreakerSnapshot snapshot;
  snapshot.state = StateOf(now);
  snapshot.opened = opened_.load(std::memory_order_relaxed);
  snapshot.reopened = reopened_.load(std::memory_order_relaxed);
  snapshot.refused = refused_.load(std::memory_order_relaxed);
  snapshot.probes = probes_.load(std::memory_order_relaxed);
  if (now.phase == Phase::kClosed) {
    const BreakerEvidence evidence = Evidence(now_ns);
    snapshot.succeeded = evidence.succeeded;
    snapshot.failed = evidence.failed;
    snapshot.slow = evidence.slow;
    snapshot.hanging = evidence.hanging;
    snapshot.failures_in_a_row = evidence.failures_in_a_row;
  } else if (now.phase == Phase::kForcedOpen) {
    snapshot.next_probe = std::chrono::nanoseconds(kNever);
  } else if (now.phase != Phase::kDisabled) {
    snapshot.next_probe = std::chrono::nanoseconds(machine_.NsLeft(now, now_ns));
  }
  return snapshot;
}

}  // namespace plimsoll::internal
