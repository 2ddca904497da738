#include "tests/conformance/replay.h"

#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <variant>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "plimsoll/core/time.h"

namespace plimsoll {
namespace {

std::optional<std::string> Compare(const char* what, double expected, double got) {
  if (std::bit_cast<std::uint64_t>(expected) == std::bit_cast<std::uint64_t>(got)) {
    return std::nullopt;
  }
  return absl::StrFormat("final state, %s: expected %.17g, got %.17g", what, expected, got);
}

std::optional<std::string> CompareFinal(const std::map<std::string, double>& expected,
                                        const LawState& state) {
  const std::map<std::string, double> got = StateByName(state);
  for (const auto& [key, value] : expected) {
    const auto found = got.find(key);
    if (found == got.end()) return "final state, " + key + ": the law has none";
    if (auto difference = Compare(key.c_str(), value, found->second)) return difference;
  }
  return std::nullopt;
}

std::string LimitDifference(std::size_t index, const TraceSample& sample, Calls expected,
                            Calls got) {
  return absl::StrFormat(
      "sample %u [start %d ns, rtt %d ns, %d in flight, %s]: expected limit %d, got %d", index,
      sample.start_ns, sample.rtt_ns, sample.in_flight, sample.dropped ? "dropped" : "not dropped",
      expected, got);
}

}  // namespace

std::map<std::string, double> StateByName(const LawState& state) {
  if (const auto* const vegas = std::get_if<VegasState>(&state)) {
    return {{"estimatedLimit", vegas->estimated_limit},
            {"rtt_noload", static_cast<double>(vegas->baseline_ns)},
            {"probeCount", vegas->probe_count}};
  }
  if (const auto* const gradient = std::get_if<GradientState>(&state)) {
    return {{"estimatedLimit", gradient->estimated_limit},
            {"rttNoLoad", gradient->baseline_ns},
            {"resetRttCounter", gradient->probe_countdown}};
  }
  if (const auto* const gradient2 = std::get_if<Gradient2State>(&state)) {
    return {{"estimatedLimit", gradient2->estimated_limit},
            {"longRtt", gradient2->long_latency_ns}};
  }
  return {};
}

Gather GatherOf(const Trace& trace) {
  if (!trace.windowed) {
    return [](const TraceSample& sample) {
      return Observation{.latency = absl::Nanoseconds(sample.rtt_ns),
                         .in_flight = sample.in_flight,
                         .dropped = sample.dropped,
                         .samples = 1};
    };
  }
  return [windowed = std::make_shared<const Windowed>(*trace.windowed),
          state = std::make_shared<WindowedState>()](const TraceSample& sample) {
    return windowed->Add(*state, {.start = Instant{sample.start_ns},
                                  .rtt = absl::Nanoseconds(sample.rtt_ns),
                                  .in_flight = sample.in_flight,
                                  .dropped = sample.dropped});
  };
}

std::optional<std::string> FirstDifference(const Trace& trace, const LimitAlgorithm& law,
                                           const Gather& gather) {
  LawState state = law.InitialState();
  if (const Calls got = law.Limit(state); got != trace.initial_limit) {
    return absl::StrFormat("before the first sample: expected limit %d, got %d",
                           trace.initial_limit, got);
  }
  for (std::size_t i = 0; i < trace.samples.size(); ++i) {
    const TraceSample& sample = trace.samples[i];
    Calls limit = law.Limit(state);
    if (const auto observation = gather(sample)) limit = law.Decide(state, *observation).limit;
    if (limit != trace.limits[i]) return LimitDifference(i, sample, trace.limits[i], limit);
  }
  return CompareFinal(trace.final_state, state);
}

}  // namespace plimsoll
