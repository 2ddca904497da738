#include "plimsoll/algorithms/windowed.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace plimsoll {
namespace {

// In window_max: how old a window may become, and after how long a silence it is forgotten.
constexpr int kAgeMax = 10;
// Of window_min: after that refusals may end it.
constexpr int kEarly = 10;
constexpr std::int64_t kLongestNs = std::int64_t{3'600'000'000'000};

// As the reference's arithmetic does.
std::int64_t AddWrapping(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::int64_t Percentile(std::vector<std::int64_t> latencies, double percentile) {
  std::sort(latencies.begin(), latencies.end());
  const auto count = static_cast<double>(latencies.size());
  const double rank = std::floor(count * percentile + 0.5) - 1;
  return latencies[static_cast<std::size_t>(std::clamp(rank, 0.0, count - 1))];
}

// What remains of a window when the next one opens.
void Reopen(WindowedState& state, std::int64_t at_ns, std::int64_t due_ns) {
  WindowedState next;
  next.is_open = true;
  next.opened_ns = at_ns;
  next.due_ns = due_ns;
  next.last_end_ns = state.last_end_ns;
  next.observed_ns = state.observed_ns;
  state = std::move(next);
}

void Count(WindowedState& state, const CallSample& call) {
  ++state.samples;
  if (call.dropped) ++state.failed;
  state.in_flight = std::max(state.in_flight, call.in_flight);
}

void CountLatency(WindowedState& state, std::int64_t latency_ns, std::size_t kept_at_most) {
  state.sum_ns += static_cast<std::uint64_t>(latency_ns);
  state.shortest_ns = std::min(state.shortest_ns, latency_ns);
  if (state.latencies_ns.size() < kept_at_most) state.latencies_ns.push_back(latency_ns);
}

}  // namespace

absl::Status Validate(const WindowedConfig& config) {
  std::vector<std::string> found;
  const auto require = [&found](bool holds, const std::string& name, const auto& value,
                                const std::string& rule) {
    if (!holds) found.push_back(absl::StrCat("windowed.", name, " = ", value, ": ", rule));
  };
  const bool exact = config.reference_exact;
  const absl::Duration shortest = exact ? absl::ZeroDuration() : absl::Milliseconds(100);
  const absl::Duration longest = exact ? absl::InfiniteDuration() : absl::Minutes(1);
  const auto fits = [&](absl::Duration value) { return value >= shortest && value <= longest; };
  require(fits(config.window_min), "window_min", absl::FormatDuration(config.window_min),
          "must be between 100ms and 1m");
  require(fits(config.window_max), "window_max", absl::FormatDuration(config.window_max),
          "must be between 100ms and 1m");
  require(exact || config.window_max >= config.window_min, "window_max",
          absl::FormatDuration(config.window_max),
          absl::StrCat("must be at least window_min, ", absl::FormatDuration(config.window_min)));
  require(config.samples_min >= (exact ? 0 : 1) && config.samples_min <= kCallsMax, "samples_min",
          config.samples_min, absl::StrCat("must be between 1 and ", kCallsMax));
  require(config.latency_min >= absl::ZeroDuration(), "latency_min",
          absl::FormatDuration(config.latency_min), "must be at least 0");
  const double percentile = config.percentile.value_or(0.5);
  require(percentile > 0 && percentile < 1, "percentile", percentile,
          "must be above 0 and below 1");
  require(config.percentile_calls >= 1 && (exact || config.percentile_calls <= 10'000),
          "percentile_calls", config.percentile_calls, "must be between 1 and 10000");
  require(config.drop_tolerance >= 0 && config.drop_tolerance < 1, "drop_tolerance",
          config.drop_tolerance, "must be at least 0 and below 1");
  if (found.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(found, "; "));
}

std::optional<Observation> Windowed::Add(WindowedState& state, const CallSample& call) const {
  return config_.reference_exact ? AddExactly(state, call) : AddSafely(state, call);
}

std::optional<Observation> Windowed::AddExactly(WindowedState& state,
                                                const CallSample& call) const {
  const std::int64_t rtt_ns = absl::ToInt64Nanoseconds(call.rtt);
  const std::int64_t end_ns = AddWrapping(call.start.ns, rtt_ns);
  if (rtt_ns < absl::ToInt64Nanoseconds(config_.latency_min)) return std::nullopt;
  const std::size_t kept = config_.percentile ? static_cast<std::size_t>(config_.percentile_calls)
                                              : std::numeric_limits<std::size_t>::max();
  if (static_cast<std::size_t>(state.samples) < kept) {
    Count(state, call);
    CountLatency(state, rtt_ns, config_.percentile ? kept : 0);
  }
  if (end_ns <= state.due_ns) return std::nullopt;
  std::optional<Observation> observation;
  const bool has_latency = state.shortest_ns < std::numeric_limits<std::int64_t>::max();
  if (has_latency && state.samples >= config_.samples_min) {
    observation = Observe(state, end_ns);
    observation->dropped = state.failed > 0;
    state.observed_ns = end_ns;
  }
  Reopen(state, end_ns, AddWrapping(end_ns, LengthAfter(state.shortest_ns)));
  return observation;
}

std::optional<Observation> Windowed::AddSafely(WindowedState& state, const CallSample& call) const {
  const std::int64_t rtt_ns = std::min(absl::ToInt64Nanoseconds(call.rtt), kLongestNs);
  const absl::Duration rtt = absl::Nanoseconds(std::max<std::int64_t>(rtt_ns, 0));
  if (!call.dropped && (rtt_ns <= 0 || rtt < config_.latency_min)) return std::nullopt;
  const Instant end = call.start + rtt;
  const Instant last{state.last_end_ns};
  if (!state.is_open || end - last > kAgeMax * config_.window_max) {
    state.last_end_ns = end.ns;
    Reopen(state, call.start.ns, (end + config_.window_min).ns);
  }
  Count(state, call);
  if (call.dropped) {
    state.failed_ns += static_cast<std::uint64_t>(std::max<std::int64_t>(rtt_ns, 0));
  } else {
    CountLatency(state, rtt_ns,
                 config_.percentile ? static_cast<std::size_t>(config_.percentile_calls) : 0);
  }
  state.last_end_ns = std::max(state.last_end_ns, end.ns);
  if (!Ends(state, end.ns)) return std::nullopt;
  Observation observation = Observe(state, end.ns);
  observation.dropped = static_cast<double>(state.failed) >
                        config_.drop_tolerance * static_cast<double>(state.samples);
  state.observed_ns = end.ns;
  Reopen(state, end.ns, (end + absl::Nanoseconds(LengthAfter(state.shortest_ns))).ns);
  return observation;
}

bool Windowed::Ends(const WindowedState& state, std::int64_t end_ns) const {
  const absl::Duration age = Instant{end_ns} - Instant{state.opened_ns};
  if (state.failed >= config_.samples_min && age >= config_.window_min / kEarly) return true;
  if (end_ns <= state.due_ns) return false;
  return state.samples >= config_.samples_min || age >= kAgeMax * config_.window_max;
}

Observation Windowed::Observe(const WindowedState& state, std::int64_t end_ns) const {
  Observation observation;
  observation.latency = absl::Nanoseconds(LatencyOf(state));
  observation.in_flight = state.in_flight;
  observation.samples = state.samples;
  observation.failed = state.failed;
  const Instant end{end_ns};
  observation.length = std::max(absl::ZeroDuration(), end - Instant{state.opened_ns});
  observation.elapsed =
      std::max(observation.length,
               state.observed_ns ? end - Instant{*state.observed_ns} : absl::ZeroDuration());
  return observation;
}

std::int64_t Windowed::LatencyOf(const WindowedState& state) const {
  const std::int64_t counted =
      config_.reference_exact ? state.samples : state.samples - state.failed;
  if (counted == 0) {
    const auto failed = static_cast<std::uint64_t>(std::max<std::int64_t>(state.failed, 1));
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(state.failed_ns / failed));
  }
  if (config_.percentile) return Percentile(state.latencies_ns, *config_.percentile);
  return static_cast<std::int64_t>(state.sum_ns) / counted;
}

std::int64_t Windowed::LengthAfter(std::int64_t shortest_ns) const {
  const std::int64_t least = absl::ToInt64Nanoseconds(config_.window_min);
  const std::int64_t most = absl::ToInt64Nanoseconds(config_.window_max);
  return std::min(std::max(AddWrapping(shortest_ns, shortest_ns), least), most);
}

}  // namespace plimsoll
