#pragma once

#include <chrono>

#include "plimsoll/agent/retry_policy.h"
#include "plimsoll/core/random.h"

namespace plimsoll::internal {

// Whether an attempt that ended so is one to try again.
bool IsRetryable(const RetryPolicy& policy, Outcome outcome, bool idempotent);

// How long to wait after attempt `number`, 1 for the first, that ended with `end`; as RetryPolicy
// says. At least end.retry_after.
std::chrono::nanoseconds PauseAfter(const RetryPolicy& policy, int number, const AttemptEnd& end,
                                    Random& random);

}  // namespace plimsoll::internal
