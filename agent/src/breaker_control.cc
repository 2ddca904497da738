#include "agent/src/breaker_control.h"

#include <utility>

namespace plimsoll::internal {
namespace {

using Phase = BreakerWord::Phase;

bool IsOperators(const BreakerWord& word) {
  return word.phase == Phase::kForcedOpen || word.phase == Phase::kDisabled;
}

}  // namespace

std::unique_ptr<Breaker> BreakerControl::Make(std::unique_ptr<BreakerImpl> impl) {
  return std::unique_ptr<Breaker>(new Breaker(std::move(impl)));
}

void BreakerControl::Replace(Breaker& breaker, std::unique_ptr<BreakerImpl> impl) {
  const Phase phase = Of(breaker).word().phase;
  if (IsOperators(Of(breaker).word())) {
    impl->Take(
        [&](const BreakerWord& word) { return std::optional(BreakerMachine::Plain(word, phase)); },
        BreakerReason::kOperator);
  }
  breaker.impl_.store(impl.get(), std::memory_order_release);
  breaker.kept_.push_back(std::move(impl));
}

void BreakerControl::HoldOpen(Breaker& breaker, Instant until) {
  Of(breaker).Take(
      [&](const BreakerWord& word) -> std::optional<BreakerWord> {
        if (IsOperators(word)) return std::nullopt;
        return BreakerMachine::Hold(word, until.ns);
      },
      BreakerReason::kFleet);
}

void BreakerControl::Prolong(Breaker& breaker, Instant until) {
  Of(breaker).Take(
      [&](const BreakerWord& word) -> std::optional<BreakerWord> {
        if (word.phase != Phase::kOpen) return std::nullopt;
        return BreakerMachine::Hold(word, until.ns);
      },
      BreakerReason::kFleet);
}

void BreakerControl::AllowProbe(Breaker& breaker) {
  Of(breaker).Take(
      [](const BreakerWord& word) -> std::optional<BreakerWord> {
        if (IsOperators(word)) return std::nullopt;
        BreakerWord next = BreakerMachine::Plain(word, Phase::kFree);
        next.attempts = word.attempts;
        return next;
      },
      BreakerReason::kFleet);
}

void BreakerControl::Close(Breaker& breaker) {
  BreakerImpl& impl = Of(breaker);
  if (impl.word().phase == Phase::kClosed || IsOperators(impl.word())) return;
  impl.Forget();  // before anybody can come in
  impl.Take(
      [](const BreakerWord& word) -> std::optional<BreakerWord> {
        if (word.phase == Phase::kClosed || IsOperators(word)) return std::nullopt;
        return BreakerMachine::Plain(word, Phase::kClosed);
      },
      BreakerReason::kFleet);
}

BreakerView BreakerControl::View(const Breaker& breaker) {
  switch (Of(breaker).word().phase) {
    case Phase::kClosed:
    case Phase::kDisabled:
      return BreakerView::kClosed;
    case Phase::kOpen:
    case Phase::kForcedOpen:
      return BreakerView::kOpen;
    case Phase::kFree:
      return BreakerView::kHalfOpen;
    case Phase::kProbing:
      return BreakerView::kProbing;
  }
  return BreakerView::kClosed;
}

BreakerEvidence BreakerControl::Evidence(const Breaker& breaker, Instant now) {
  return Of(breaker).Evidence(now.ns);
}

std::int64_t BreakerControl::Refused(const Breaker& breaker) { return Of(breaker).refused(); }

}  // namespace plimsoll::internal
