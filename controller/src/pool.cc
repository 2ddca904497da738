#include "controller/src/pool.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plimsoll::internal {
namespace {

// With too few samples an epoch is prolonged, but not beyond this many lengths: old samples say
// nothing of now.
constexpr int kProlongedAtMost = 8;
// Of the calls that ended, for the mean by Little's law to be that of the others.
constexpr double kIgnoredMax = 0.05;
constexpr double kNeedKeptPerSecond = 0.9;
// Fewer ended calls say nothing of the time that a call takes.
constexpr double kEnoughEnded = 5;
// Luck explains differences up to this factor and so many calls.
constexpr double kLuckFactor = 1.5;
constexpr double kLuckCalls = 2;

bool HasChanged(double before, double now) {
  return now > before * kLuckFactor + kLuckCalls || before > now * kLuckFactor + kLuckCalls;
}

}  // namespace

LawRunner::LawRunner(const LimitAlgorithm& law, const WindowConfig& config, std::uint64_t seed,
                     Instant now)
    : law_(law),
      config_(config),
      state_(law.InitialState()),
      random_(seed),
      opened_at_(now),
      observed_at_(now) {}

void LawRunner::Add(const Window& window) { gathered_.MergeParallel(window); }

std::optional<LawRunner::Outcome> LawRunner::Advance(Calls in_flight_max, absl::Duration measured,
                                                     Instant now) {
  const absl::Duration open = now - opened_at_;
  const bool enough = gathered_.completed() >= config_.samples_min;
  if (open < config_.length) return std::nullopt;
  if (!enough && open < config_.length * kProlongedAtMost) return std::nullopt;

  Close(in_flight_max, now);
  Outcome outcome{WindowOutcome::kTooFewSamples, std::nullopt, limit()};
  const absl::Duration latency = LatencyOf(last_, config_);
  if (!enough || latency <= absl::ZeroDuration()) return outcome;

  last_latency_ = latency;
  outcome.window = WindowOutcome::kUsed;
  outcome.decision = law_.Decide(state_, Observe(measured, now));
  last_decision_ = outcome.decision;
  return outcome;
}

bool LawRunner::Pass(Calls in_flight_max, Instant now) {
  if (now - opened_at_ < config_.length) return false;
  Close(in_flight_max, now);
  observed_at_ = now;
  return true;
}

void LawRunner::Close(Calls in_flight_max, Instant now) {
  last_ = std::exchange(gathered_, Window());
  last_epoch_ = now - opened_at_;
  last_in_flight_max_ = in_flight_max;
  opened_at_ = now;
}

Observation LawRunner::Observe(absl::Duration measured, Instant now) {
  Observation seen;
  seen.latency = last_latency_;
  seen.in_flight = last_in_flight_max_;
  seen.samples = last_.completed();
  seen.failed = last_.dropped;
  const bool drops =
      static_cast<double>(seen.failed) > config_.drop_tolerance * static_cast<double>(seen.samples);
  seen.dropped = drops || seen.latency > config_.latency_ceiling;
  seen.length = measured > absl::ZeroDuration() ? measured : last_epoch_;
  // Windows that began before the epoch may have come in it.
  seen.elapsed = std::max(now - std::exchange(observed_at_, now), seen.length);
  seen.draw = random_.Uniform();
  return seen;
}

absl::Duration LatencyOf(const Window& window, const WindowConfig& config) {
  if (config.latency == LatencySignal::kPercentile) {
    return window.latency.Quantile(config.percentile);
  }
  const std::int64_t ended = window.completed() + window.ignored;
  const bool ignored_speak =
      static_cast<double>(window.ignored) > kIgnoredMax * static_cast<double>(ended);
  return ignored_speak ? window.latency.Mean() : window.MeanLatency();
}

void Demand::Report(Calls in_flight_max, Calls waiting, const Window& sum, Calls limit,
                    absl::Duration latency, Instant now) {
  constexpr Memory long_memory{200, 1, 10};
  constexpr Memory short_memory{50, 1, 2};
  Remember(long_, long_memory, waiting, sum);
  Remember(short_, short_memory, waiting, sum);
  if (HasChanged(Offered(long_, latency), Offered(short_, latency))) long_ = short_;
  load_ = std::min(Offered(long_, latency), static_cast<double>(kCallsMax));

  double seen = in_flight_max + waiting;
  // Refusals mean that one more could have been used, whatever else is known.
  if (sum.rejected_by(RejectReason::kLimit) > 0) seen = std::max({seen, limit + 1.0, load_});
  need_ = std::clamp(std::max(seen, Need(now)), 0.0, static_cast<double>(kCallsMax));
  at_ = now;
}

void Demand::Remember(Past& past, const Memory& memory, Calls waiting, const Window& sum) {
  const double seconds = absl::ToDoubleSeconds(sum.length);
  if (seconds <= 0) return;
  past.seconds += seconds;
  past.in_flight += absl::ToDoubleSeconds(sum.in_flight) + waiting * seconds;
  past.ended += static_cast<double>(sum.completed() + sum.ignored);
  past.refused += static_cast<double>(sum.rejected_by(RejectReason::kLimit));
  const double calls = std::max(1.0, past.ended + past.refused);
  const double enough =
      std::clamp(past.seconds * memory.calls / calls, memory.seconds_min, memory.seconds_max);
  const double kept = std::min(1.0, enough / past.seconds);
  past.seconds *= kept;
  past.in_flight *= kept;
  past.ended *= kept;
  past.refused *= kept;
}

double Demand::Offered(const Past& past, absl::Duration latency) {
  const double takes =
      past.ended >= kEnoughEnded ? past.in_flight / past.ended : absl::ToDoubleSeconds(latency);
  return (past.in_flight + past.refused * takes) / past.seconds;
}

double Demand::Need(Instant now) const {
  const double seconds = std::max(0.0, absl::ToDoubleSeconds(now - at_));
  return need_ * std::pow(kNeedKeptPerSecond, seconds);
}

void Demand::AssumeAtLeast(double calls) {
  need_ = std::max(need_, calls);
  load_ = std::max(load_, calls);
  for (Past* past : {&long_, &short_}) {
    past->in_flight = std::max(past->in_flight, load_ * past->seconds);
  }
}

}  // namespace plimsoll::internal
