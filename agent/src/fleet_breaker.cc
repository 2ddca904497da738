#include "agent/src/fleet_breaker.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "agent/src/breaker_control.h"

namespace plimsoll::internal {
namespace {

// Beyond the longest cool-off. No order holds for longer than that, whatever it says.
constexpr absl::Duration kHoldBeyond = absl::Minutes(15);
// Who loses the controller together does not probe together: up to so much of the hold is added.
constexpr double kHoldJitter = 0.2;

absl::Duration HoldMax(const BreakerSettings& settings) {
  return settings.cool_off_max + kHoldBeyond;
}

// What was found out here and is not yet known there.
bool IsUrgent(const BreakerChange& change) {
  switch (change.reason) {
    case BreakerReason::kFailuresInARow:
    case BreakerReason::kFailureRate:
    case BreakerReason::kSlowRate:
    case BreakerReason::kProbeFailed:
    case BreakerReason::kProbesPassed:
      return true;
    case BreakerReason::kProbing:
    case BreakerReason::kFleet:
    case BreakerReason::kOperator:
      return false;
  }
  return false;
}

}  // namespace

FleetBreaker::FleetBreaker(const Clock& clock, Random random, std::function<void()> urgent)
    : clock_(clock),
      urgent_(std::move(urgent)),
      random_(random),
      breaker_(BreakerControl::Make(MakeImpl(BreakerSettings()))) {
  breaker_->Force(BreakerState::kDisabled);
}

std::unique_ptr<BreakerImpl> FleetBreaker::MakeImpl(const BreakerSettings& settings) {
  const auto on_change = [this](const BreakerChange& change) {
    if (IsUrgent(change)) urgent_();
  };
  return std::make_unique<BreakerImpl>(settings, on_change, clock_, random_.Next(),
                                       HoldMax(settings));
}

void FleetBreaker::Configure(const std::optional<BreakerSettings>& settings) {
  // Whoever follows the policy: a controller that says nonsense says nothing.
  const bool valid = settings.has_value() && ViolationsOf(*settings).empty();
  const std::optional<BreakerSettings> before =
      std::exchange(settings_, valid ? settings : std::nullopt);
  if (before == settings_) return;
  refused_told_ = 0;
  if (!settings_.has_value()) {
    BreakerControl::Replace(*breaker_, MakeImpl(BreakerSettings()));
    breaker_->Force(BreakerState::kDisabled);
    return;
  }
  BreakerControl::Replace(*breaker_, MakeImpl(*settings_));
  // Nobody has disabled it. Last, because from here on calls are counted, and must be in what
  // stays.
  if (!before.has_value()) breaker_->Force(BreakerState::kClosed);
  if (obeyed_.command != BreakerCommand::kClose) Follow(obeyed_, clock_.Now());
}

void FleetBreaker::Obey(const BreakerOrder& order, Instant now) {
  if (!settings_.has_value() || order.id < obeyed_.id) return;
  const BreakerOrder before = std::exchange(obeyed_, order);
  if (order.id == before.id) {
    // Said again: who has found out more by now, alone, stays with that.
    if (order.command == BreakerCommand::kOpen) {
      BreakerControl::Prolong(*breaker_, EndOf(order, now));
    }
    return;
  }
  const bool ends_nothing =
      order.command == BreakerCommand::kClose && before.command == BreakerCommand::kClose;
  if (!ends_nothing) Follow(order, now);
}

void FleetBreaker::Follow(const BreakerOrder& order, Instant now) {
  switch (order.command) {
    case BreakerCommand::kClose:
      BreakerControl::Close(*breaker_);
      return;
    case BreakerCommand::kOpen:
      BreakerControl::HoldOpen(*breaker_, EndOf(order, now));
      return;
    case BreakerCommand::kProbe:
      BreakerControl::AllowProbe(*breaker_);
      return;
  }
}

Instant FleetBreaker::EndOf(const BreakerOrder& order, Instant now) {
  const absl::Duration hold = order.hold * random_.Uniform(1, 1 + kHoldJitter);
  return now + std::clamp(hold, absl::ZeroDuration(), HoldMax(*settings_));
}

std::optional<BreakerReport> FleetBreaker::Report(Instant now) {
  if (!settings_.has_value() || !used_.load(std::memory_order_relaxed)) return std::nullopt;
  // Where an operator has spoken, nothing is seen, and nobody can probe.
  const BreakerState state = breaker_->state();
  if (state == BreakerState::kDisabled || state == BreakerState::kForcedOpen) return std::nullopt;
  BreakerReport report;
  report.order = obeyed_.id;
  report.command = obeyed_.command;
  report.view = BreakerControl::View(*breaker_);
  report.evidence = BreakerControl::Evidence(*breaker_, now);
  const std::int64_t refused = BreakerControl::Refused(*breaker_);
  report.refused = refused - std::exchange(refused_told_, refused);
  return report;
}

}  // namespace plimsoll::internal
