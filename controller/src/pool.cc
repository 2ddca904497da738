#include "controller/src/pool.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plimsoll::internal {
namespace {

// With too few samples an epoch is prolonged, but not beyond this many lengths: old samples say
// nothing of now.
constexpr int kProlongedAtMost = 8;
constexpr double kDemandKeptPerSecond = 0.9;

}  // namespace

LawRunner::LawRunner(const LimitAlgorithm& law, const WindowConfig& config, Instant now)
    : law_(law), config_(config), state_(law.InitialState()), opened_at_(now) {}

void LawRunner::Add(const Window& window) { gathered_.MergeParallel(window); }

std::optional<LawRunner::Outcome> LawRunner::Advance(Calls in_flight_max, Instant now) {
  const absl::Duration open = now - opened_at_;
  const bool enough = gathered_.completed() >= config_.samples_min;
  if (open < config_.length) return std::nullopt;
  if (!enough && open < config_.length * kProlongedAtMost) return std::nullopt;

  last_ = std::exchange(gathered_, Window());
  last_epoch_ = open;
  last_in_flight_max_ = in_flight_max;
  opened_at_ = now;
  Outcome outcome{WindowOutcome::kTooFewSamples, std::nullopt, limit()};
  if (!enough) return outcome;

  last_latency_ = last_.latency.Quantile(config_.percentile);
  Observation seen;
  seen.latency = last_latency_;
  seen.in_flight = last_in_flight_max_;
  seen.samples = last_.completed();
  seen.dropped = static_cast<double>(last_.dropped) >
                 config_.drop_tolerance * static_cast<double>(last_.completed());
  outcome.window = WindowOutcome::kUsed;
  outcome.decision = law_.Decide(state_, seen);
  last_decision_ = outcome.decision;
  return outcome;
}

void Demand::Report(Calls in_flight_max, Calls waiting, const Window& sum, Calls limit,
                    absl::Duration latency, Instant now) {
  const double kept = At(now);
  double seen = in_flight_max + waiting;
  const auto refused = static_cast<double>(sum.rejected_by(RejectReason::kLimit));
  const auto ended = static_cast<double>(sum.completed() + sum.ignored);
  const double length = absl::ToDoubleSeconds(sum.length);
  if (refused > 0) {
    // Refusals mean that one more could have been used, whatever else is known.
    seen = std::max(seen, limit + 1.0);
    if (ended > 0 && length > 0) {
      seen = std::max(seen, absl::ToDoubleSeconds(sum.in_flight) / length * (1 + refused / ended));
    } else if (length > 0) {
      seen = std::max(seen, refused / length * absl::ToDoubleSeconds(latency));
    }
  }
  value_ = std::clamp(std::max(seen, kept), 0.0, static_cast<double>(kCallsMax));
  at_ = now;
}

double Demand::At(Instant now) const {
  const double seconds = std::max(0.0, absl::ToDoubleSeconds(now - at_));
  return value_ * std::pow(kDemandKeptPerSecond, seconds);
}

}  // namespace plimsoll::internal
