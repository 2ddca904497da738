#include "controller/src/pool.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plimsoll::internal {
namespace {

// With too few samples an epoch is prolonged, but not beyond this many lengths: old samples say
// nothing of now.
constexpr int kProlongedAtMost = 8;
constexpr double kNeedKeptPerSecond = 0.9;
// What a load is judged by: this many calls, ended or refused, but not less or more than these
// seconds.
constexpr double kEnoughCalls = 200;
constexpr double kPastMin = 1;
constexpr double kPastMax = 10;
// Fewer ended calls say nothing of the time that a call takes.
constexpr double kEnoughEnded = 5;

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
  double seen = in_flight_max + waiting;
  Remember(waiting, sum);
  load_ = std::min(Offered(latency), static_cast<double>(kCallsMax));
  // Refusals mean that one more could have been used, whatever else is known.
  if (sum.rejected_by(RejectReason::kLimit) > 0) seen = std::max({seen, limit + 1.0, load_});
  need_ = std::clamp(std::max(seen, Need(now)), 0.0, static_cast<double>(kCallsMax));
  at_ = now;
}

void Demand::Remember(Calls waiting, const Window& sum) {
  const double seconds = absl::ToDoubleSeconds(sum.length);
  if (seconds <= 0) return;
  past_.seconds += seconds;
  past_.in_flight += absl::ToDoubleSeconds(sum.in_flight) + waiting * seconds;
  past_.ended += static_cast<double>(sum.completed() + sum.ignored);
  past_.refused += static_cast<double>(sum.rejected_by(RejectReason::kLimit));
  const double calls = std::max(1.0, past_.ended + past_.refused);
  const double long_enough = std::clamp(past_.seconds * kEnoughCalls / calls, kPastMin, kPastMax);
  const double kept = std::min(1.0, long_enough / past_.seconds);
  past_.seconds *= kept;
  past_.in_flight *= kept;
  past_.ended *= kept;
  past_.refused *= kept;
}

double Demand::Offered(absl::Duration latency) const {
  const double takes =
      past_.ended >= kEnoughEnded ? past_.in_flight / past_.ended : absl::ToDoubleSeconds(latency);
  return (past_.in_flight + past_.refused * takes) / past_.seconds;
}

double Demand::Need(Instant now) const {
  const double seconds = std::max(0.0, absl::ToDoubleSeconds(now - at_));
  return need_ * std::pow(kNeedKeptPerSecond, seconds);
}

void Demand::AssumeAtLeast(double calls) {
  need_ = std::max(need_, calls);
  load_ = std::max(load_, calls);
  past_.in_flight = std::max(past_.in_flight, load_ * past_.seconds);
}

}  // namespace plimsoll::internal
