#include "plimsoll/agent/breaker.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "agent/src/breaker_impl.h"
#include "agent/src/breaker_settings.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/random.h"

namespace plimsoll {
namespace {

using internal::BreakerMachine;
using internal::BreakerWord;
using Phase = BreakerWord::Phase;

BreakerWord Forced(const BreakerMachine& machine, const BreakerWord& word, BreakerState state,
                   std::int64_t now_ns) {
  switch (state) {
    case BreakerState::kClosed:
      return BreakerMachine::Plain(word, Phase::kClosed);
    case BreakerState::kOpen:
      return machine.Open(word, 0, now_ns);
    case BreakerState::kHalfOpen:
      return BreakerMachine::Plain(word, Phase::kFree);
    case BreakerState::kForcedOpen:
      return BreakerMachine::Plain(word, Phase::kForcedOpen);
    case BreakerState::kDisabled:
      return BreakerMachine::Plain(word, Phase::kDisabled);
  }
  return word;
}

}  // namespace

BreakerTicket& BreakerTicket::operator=(BreakerTicket&& other) noexcept {
  if (this != &other) {
    Finish(Outcome::kIgnored);
    impl_ = std::exchange(other.impl_, nullptr);
    entered_ns_ = other.entered_ns_;
    word_ = other.word_;
  }
  return *this;
}

BreakerTicket::~BreakerTicket() { Finish(Outcome::kIgnored); }

void BreakerTicket::Finish(Outcome outcome) {
  if (impl_ == nullptr) return;
  internal::BreakerImpl& impl = *std::exchange(impl_, nullptr);
  impl.Finish(word_, outcome, entered_ns_, impl.clock().Now().ns);
}

void BreakerTicket::Finish(Outcome outcome, std::chrono::nanoseconds latency) {
  if (impl_ == nullptr) return;
  const std::int64_t left = std::numeric_limits<std::int64_t>::max() - entered_ns_;
  const std::int64_t latency_ns = std::clamp<std::int64_t>(latency.count(), 0, left);
  std::exchange(impl_, nullptr)->Finish(word_, outcome, entered_ns_, entered_ns_ + latency_ns);
}

bool BreakerTicket::probe() const {
  return impl_ != nullptr && BreakerWord::Unpack(word_).phase == Phase::kProbing;
}

Breaker::Breaker(std::unique_ptr<internal::BreakerImpl> impl) : impl_(impl.get()) {
  kept_.push_back(std::move(impl));
}
Breaker::~Breaker() = default;

absl::StatusOr<std::unique_ptr<Breaker>> Breaker::Make(BreakerOptions options) {
  return Make(std::move(options), Sources());
}

absl::StatusOr<std::unique_ptr<Breaker>> Breaker::Make(BreakerOptions options, Sources sources) {
  absl::Status valid = Validate(options);
  if (!valid.ok()) return valid;
  const Clock& clock = sources.clock != nullptr ? *sources.clock : RealClock();
  const std::uint64_t seed =
      sources.seed.has_value() ? *sources.seed : Random::FromEntropy().Next();
  return std::unique_ptr<Breaker>(new Breaker(std::make_unique<internal::BreakerImpl>(
      internal::SettingsOf(options), std::move(options.on_change), clock, seed)));
}

BreakerEntry Breaker::TryEnter() {
  return TryEnterAt(impl_.load(std::memory_order_acquire)->clock().Now().ns);
}

BreakerEntry Breaker::TryEnterAt(std::int64_t lease_clock_ns) {
  internal::BreakerImpl* const impl = impl_.load(std::memory_order_acquire);
  const internal::BreakerImpl::Answer answer = impl->Enter(lease_clock_ns);
  if (answer.word.has_value()) return BreakerTicket(impl, lease_clock_ns, *answer.word);
  return BreakerEntry(std::chrono::nanoseconds(answer.ns_left));
}

BreakerState Breaker::state() const {
  return internal::StateOf(impl_.load(std::memory_order_acquire)->word());
}

BreakerSnapshot Breaker::Snapshot() const {
  return impl_.load(std::memory_order_acquire)->Snapshot();
}

void Breaker::Force(BreakerState state) {
  internal::BreakerImpl& impl = *impl_.load(std::memory_order_acquire);
  const std::int64_t now_ns = impl.clock().Now().ns;
  if (state == BreakerState::kClosed) impl.Forget();
  impl.Take(
      [&](const BreakerWord& word) {
        return std::optional(Forced(impl.machine(), word, state, now_ns));
      },
      BreakerReason::kOperator);
}

}  // namespace plimsoll
