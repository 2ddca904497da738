#include "plimsoll/agent/retry_policy.h"

#include <algorithm>

#include "agent/src/retry_decision.h"
#include "plimsoll/core/violations.h"

namespace plimsoll {

using std::chrono::nanoseconds;

namespace {

constexpr int kAttemptsMax = 100;
constexpr std::chrono::hours kBackoffMax{1};

// The largest pause: doubled with every attempt, without going over.
nanoseconds BackoffAfter(const RetryPolicy& policy, int number) {
  nanoseconds backoff = policy.backoff_first;
  for (int i = 1; i < number && backoff < policy.backoff_max; ++i) backoff *= 2;
  return std::min(backoff, policy.backoff_max);
}

}  // namespace

std::string_view ToString(RetryEnd end) {
  switch (end) {
    case RetryEnd::kOutcome:
      return "outcome";
    case RetryEnd::kAttempts:
      return "attempts";
    case RetryEnd::kBudget:
      return "budget";
    case RetryEnd::kDeadline:
      return "deadline";
    case RetryEnd::kRefused:
      return "refused";
    case RetryEnd::kCancelled:
      return "cancelled";
  }
  return "";
}

absl::Status Validate(const RetryPolicy& policy) {
  Violations violations(Violations::Form::kWords);
  violations.Require(policy.attempts_max >= 1 && policy.attempts_max <= kAttemptsMax,
                     "attempts_max", policy.attempts_max, "must be 1 to 100");
  violations.Require(policy.backoff_first > nanoseconds::zero(), "backoff_first",
                     policy.backoff_first, "must be positive");
  violations.Require(
      policy.backoff_max >= policy.backoff_first && policy.backoff_max <= kBackoffMax,
      "backoff_max", policy.backoff_max, "must be backoff_first to an hour");
  return violations.ToStatus("retry policy");
}

namespace internal {

bool IsRetryable(const RetryPolicy& policy, Outcome outcome, bool idempotent) {
  switch (outcome) {
    case Outcome::kOverload:
      return true;
    case Outcome::kError:
      return idempotent;
    case Outcome::kTimeout:
      return idempotent && policy.retry_timeouts;
    case Outcome::kSuccess:
    case Outcome::kCancelled:
    case Outcome::kIgnored:
      return false;
  }
  return false;
}

// The jitter comes on top of what the dependency asked for, so that not all of those whom it told
// the same come back at the same moment.
nanoseconds PauseAfter(const RetryPolicy& policy, int number, const AttemptEnd& end,
                       Random& random) {
  const auto backoff = static_cast<double>(BackoffAfter(policy, number).count());
  const nanoseconds jitter(static_cast<std::int64_t>(random.Uniform() * backoff));
  const nanoseconds asked = std::max(end.retry_after, nanoseconds::zero());
  return asked > nanoseconds::max() - jitter ? nanoseconds::max() : asked + jitter;
}

}  // namespace internal
}  // namespace plimsoll
