#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plimsoll/algorithms/fleet_knee.h"
#include "plimsoll/controller/event_log.h"
#include "plimsoll/controller/policy.h"
#include "plimsoll/core/reason.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// One judgement of a law, or of one that had too little to judge by.
struct LawDecision {
  WindowOutcome outcome = WindowOutcome::kUsed;
  Calls before = 0;
  Calls after = 0;                   // equal to `before` if the limit was held
  Reason reason = Reason::kInitial;  // why it moved or stayed, if the window was used
  DecisionInputs inputs;
  std::optional<KneeDecision> knee;  // of the pool law
};

// The sentence that stands beside a decision: what was seen, what bound, what followed.
// `instance` is empty for the law of a pool. Pure.
std::string ExplainDecision(const Policy& policy, const InstanceId& instance,
                            const LawDecision& decision);

// What the pool law saw and made of it; `decision.knee` must be there. Pure.
std::string ExplainKnee(const Policy& policy, const LawDecision& decision);

// A change of one instance's limit: its share, and where to read why.
struct ShareChange {
  InstanceId instance;
  Calls from = 0;
  Calls to = 0;
  Reason reason = Reason::kInitial;
  Calls wanted = 0;             // by this instance
  std::int64_t wanted_all = 0;  // by all together
  Calls capacity = 0;           // that is divided
  // Of the event kDecision from which the change follows; empty if it follows from none.
  std::string decision;
};
std::string ExplainShare(const ShareChange& change);

}  // namespace plimsoll::internal
