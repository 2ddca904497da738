#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "plimsoll/controller/event_log.h"
#include "plimsoll/core/reason.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

// A window that nobody has measured: somebody asks what the law would make of it.
struct TrialWindow {
  absl::Duration length = absl::Seconds(1);  // > 0
  absl::Duration latency;                    // of each call that ended, > 0
  Calls in_flight_max = 0;                   // >= 0
  std::int64_t succeeded = 0;                // >= 0
  std::int64_t dropped = 0;                  // ended by overload, >= 0
  std::int64_t rejected = 0;                 // refused because of the limit, >= 0
};
inline constexpr std::size_t kTrialWindowsMax = 100;
inline constexpr std::int64_t kTrialCallsMax = 1'000'000;  // of each kind, in one window

struct TrialDecision {
  // Too few samples: the law was told nothing, and its window goes on with the next one.
  WindowOutcome outcome = WindowOutcome::kTooFewSamples;
  Calls from = 0;
  Calls to = 0;
  std::optional<Reason> reason;  // if the law was told
  std::string message;           // the sentence that the log would have
};

}  // namespace plimsoll
