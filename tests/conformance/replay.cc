#include "tests/conformance/replay.h"

#include <bit>
#include <cstdint>
#include <variant>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"

namespace plimsoll {
namespace {

std::optional<std::string> Compare(const char* what, double expected, double got) {
  if (std::bit_cast<std::uint64_t>(expected) == std::bit_cast<std::uint64_t>(got)) {
    return std::nullopt;
  }
  return absl::StrFormat("final state, %s: expected %.17g, got %.17g", what, expected, got);
}

std::optional<std::string> CompareFinal(const TraceFinalState& expected, const LawState& state) {
  const auto* const got = std::get_if<Gradient2State>(&state);
  if (got == nullptr) return "final state: it is not one of gradient2";
  if (auto found = Compare("estimatedLimit", expected.estimated_limit, got->estimated_limit)) {
    return found;
  }
  return Compare("longRtt", expected.long_latency_ns, got->long_latency_ns);
}

std::string LimitDifference(std::size_t index, const TraceSample& sample, Calls expected,
                            Calls got) {
  return absl::StrFormat(
      "sample %u [start %d ns, rtt %d ns, %d in flight, %s]: expected limit %d, got %d", index,
      sample.start_ns, sample.rtt_ns, sample.in_flight, sample.dropped ? "dropped" : "not dropped",
      expected, got);
}

}  // namespace

std::optional<std::string> FirstDifference(const Trace& trace, const LimitAlgorithm& law) {
  LawState state = law.InitialState();
  if (const Calls got = law.Limit(state); got != trace.initial_limit) {
    return absl::StrFormat("before the first sample: expected limit %d, got %d",
                           trace.initial_limit, got);
  }
  for (std::size_t i = 0; i < trace.samples.size(); ++i) {
    const TraceSample& sample = trace.samples[i];
    const Decision decision = law.Decide(state, {.latency = absl::Nanoseconds(sample.rtt_ns),
                                                 .in_flight = sample.in_flight,
                                                 .dropped = sample.dropped,
                                                 .samples = 1});
    if (decision.limit != trace.limits[i]) {
      return LimitDifference(i, sample, trace.limits[i], decision.limit);
    }
  }
  return trace.final_state ? CompareFinal(*trace.final_state, state) : std::nullopt;
}

}  // namespace plimsoll
