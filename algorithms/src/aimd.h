#pragma once

#include <string_view>

#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/algorithms/config.h"

namespace plimsoll::internal {

// Additive increase, multiplicative decrease. For each observation:
//
//   dropped or latency > latency_threshold:  L = trunc(L * backoff)    ERRORS or TIMEOUTS
//   otherwise, 2 * in_flight >= L:           L = L + increase          LATENCY_FELL
//   otherwise:                               L stays                   UNDERUSED
//   L = min(ceiling, max(floor, L))                                    FLOOR or CEILING if it cut
//   in
//
// A cut always lowers the limit, because trunc(L * backoff) <= L - 1 for every L >= 1; so only a
// floor of 0 could trap it, and then no call and no observation would ever come again. That floor
// exists in reference-exact mode only.
//
// An observation without samples or with a latency that is not positive changes nothing
// (UNDERUSED); in reference-exact mode it counts like any other. Source of the law: AIMDLimit of
// Netflix/concurrency-limits. Thread-safe.
class AimdLaw final : public LimitAlgorithm {
 public:
  explicit AimdLaw(const AlgorithmConfig& config) : config_(config) {}

  std::string_view name() const override { return ToString(AlgorithmKind::kAimd); }
  LawState InitialState() const override { return AimdState{config_.initial}; }
  Calls Limit(const LawState& state) const override;
  Decision Decide(LawState& state, const Observation& observation) const override;

 private:
  // What the law wants next, and why, before floor and ceiling.
  Decision Step(Calls limit, const Observation& observation) const;

  const AlgorithmConfig config_;
};

}  // namespace plimsoll::internal
