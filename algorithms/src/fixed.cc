#include "algorithms/src/fixed.h"

#include "algorithms/src/bounds.h"

namespace plimsoll::internal {

Calls FixedLaw::Limit(const LawState& state) const {
  StateOf<FixedState>(state);
  return config_.initial;
}

Decision FixedLaw::Decide(LawState& state, const Observation&) const {
  const Calls limit = Limit(state);
  return {.limit = limit, .unclamped = static_cast<double>(limit), .reason = Reason::kInitial};
}

}  // namespace plimsoll::internal
