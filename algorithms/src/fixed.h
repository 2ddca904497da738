#pragma once

#include <string_view>

#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/algorithms/config.h"

namespace plimsoll::internal {

// L = initial
//
// The hand-set limit, whatever is observed. The reason of every decision is INITIAL. Thread-safe.
class FixedLaw final : public LimitAlgorithm {
 public:
  explicit FixedLaw(const AlgorithmConfig& config) : config_(config) {}

  std::string_view name() const override { return ToString(AlgorithmKind::kFixed); }
  LawState InitialState() const override { return FixedState{}; }
  Calls Limit(const LawState& state) const override;
  Decision Decide(LawState& state, const Observation& observation) const override;

 private:
  const AlgorithmConfig config_;
};

}  // namespace plimsoll::internal
