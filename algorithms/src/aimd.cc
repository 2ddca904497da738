#include "algorithms/src/aimd.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "algorithms/src/arithmetic.h"
#include "algorithms/src/bounds.h"

namespace plimsoll::internal {

Calls AimdLaw::Limit(const LawState& state) const {
  const Calls limit = StateOf<AimdState>(state).limit;
  if (config_.reference_exact) return limit;
  return std::clamp(limit, config_.floor, config_.ceiling);
}

Decision AimdLaw::Decide(LawState& state, const Observation& observation) const {
  const Calls before = Limit(state);
  if (!config_.reference_exact && !IsUsable(observation)) {
    return {
        .limit = before, .unclamped = static_cast<double>(before), .reason = Reason::kUnderused};
  }
  Decision decision = Step(before, observation);
  // In doubles, which hold every step exactly: limit + increase may not fit into Calls.
  const double floored = std::max<double>(config_.floor, decision.unclamped);
  decision.limit = static_cast<Calls>(std::min<double>(config_.ceiling, floored));
  decision.reason = ReasonWithin(config_, decision.unclamped, decision.reason);
  StateOf<AimdState>(state).limit = decision.limit;
  return decision;
}

Decision AimdLaw::Step(Calls limit, const Observation& observation) const {
  const AimdConfig& aimd = config_.aimd;
  const bool slow = observation.latency > aimd.latency_threshold;
  if (observation.dropped || slow) {
    return {.unclamped = std::trunc(limit * aimd.backoff),
            .reason = observation.dropped ? Reason::kErrors : Reason::kTimeouts,
            .gradient = aimd.backoff};
  }
  const std::int64_t twice = config_.reference_exact ? TwiceWrapping(observation.in_flight)
                                                     : std::int64_t{2} * observation.in_flight;
  if (twice >= limit) {
    return {.unclamped = static_cast<double>(limit) + aimd.increase,
            .reason = Reason::kLatencyFell};
  }
  return {.unclamped = static_cast<double>(limit), .reason = Reason::kUnderused};
}

}  // namespace plimsoll::internal
