#include "agent/src/local_law.h"

#include <algorithm>
#include <utility>

namespace plimsoll::internal {
namespace {

// Lengths that a window may be open.
constexpr int kProlongedAtMost = 10;
// Of the calls that ended, for the mean by Little's law to be that of the others. As in the
// controller.
constexpr double kIgnoredMax = 0.05;

}  // namespace

LocalLaw::LocalLaw(std::unique_ptr<LimitAlgorithm> law, const LocalWindowConfig& config,
                   Random random, Instant now)
    : law_(std::move(law)),
      config_(config),
      random_(random),
      state_(law_->InitialState()),
      observed_at_(now) {}

std::optional<Decision> LocalLaw::Add(const Window& window, Instant now) {
  Gather(window);
  const bool enough = gathered_.completed() >= config_.samples_min;
  if (window.length > config_.length * kProlongedAtMost) {
    Forget();
    return std::nullopt;
  }
  if (!enough) {
    if (gathered_.length >= config_.length * kProlongedAtMost) Forget();
    return std::nullopt;
  }
  const absl::Duration latency = Latency();
  std::optional<Decision> decision;
  if (latency > absl::ZeroDuration()) decision = law_->Decide(state_, Observe(latency, now));
  Forget();
  return decision;
}

// One after the other, where windows of a pool run side by side.
void LocalLaw::Gather(const Window& window) {
  const absl::Duration length = gathered_.length + window.length;
  const Calls most = std::max(gathered_.in_flight_max, window.in_flight_max);
  gathered_.MergeParallel(window);
  gathered_.length = length;
  gathered_.in_flight_max = most;
}

absl::Duration LocalLaw::Latency() const {
  if (config_.percentile.has_value()) return gathered_.latency.Quantile(*config_.percentile);
  const std::int64_t ended = gathered_.completed() + gathered_.ignored;
  const bool ignored_speak =
      static_cast<double>(gathered_.ignored) > kIgnoredMax * static_cast<double>(ended);
  return ignored_speak ? gathered_.latency.Mean() : gathered_.MeanLatency();
}

Observation LocalLaw::Observe(absl::Duration latency, Instant now) {
  Observation seen;
  seen.latency = latency;
  seen.in_flight = gathered_.in_flight_max;
  seen.samples = gathered_.completed();
  seen.failed = gathered_.dropped;
  seen.dropped =
      static_cast<double>(seen.failed) > config_.drop_tolerance * static_cast<double>(seen.samples);
  seen.length = gathered_.length;
  seen.elapsed = std::max(now - std::exchange(observed_at_, now), seen.length);
  seen.draw = random_.Uniform();
  return seen;
}

}  // namespace plimsoll::internal
