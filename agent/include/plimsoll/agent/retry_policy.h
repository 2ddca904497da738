#pragma once

#include <chrono>
#include <string_view>

#include "absl/status/status.h"
#include "plimsoll/agent/outcome.h"

namespace plimsoll {

// How one attempt of a call ended, and what the dependency said about the next.
struct AttemptEnd {
  // NOLINTNEXTLINE(google-explicit-constructor): an outcome alone says it all, most of the time.
  AttemptEnd(Outcome ended, std::chrono::nanoseconds wait = {})
      : outcome(ended), retry_after(wait) {}

  Outcome outcome;
  // The next attempt is not wanted earlier (HTTP Retry-After, gRPC RetryInfo). Zero or negative: it
  // did not say.
  std::chrono::nanoseconds retry_after;
  // The dependency does not want to be asked again at all (a negative grpc-retry-pushback-ms).
  bool final = false;
};

// When a call is tried again, apart from what the RetryBudget allows. Which outcomes are:
//
//   kOverload             it was refused before it began, so trying again does no harm
//   kError                if the call is idempotent: it may have taken effect
//   kTimeout              if it is idempotent and `retry_timeouts`
//   all others            never; nor does a call that was refused on this side
//
// The pause before attempt n + 1 is uniform in [0, min(backoff_max, backoff_first * 2^(n-1))]
// ("full jitter": https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/), after
// the time that the dependency asked for, if it did. If it would end after the deadline, the call
// ends at once.
struct RetryPolicy {
  // Attempts of one call, the first included, 1 to 100; 1: it is never tried again. A call within
  // another one that is tried again shares its number: see RetryScope.
  int attempts_max = 3;
  std::chrono::nanoseconds backoff_first{50'000'000};   // > 0
  std::chrono::nanoseconds backoff_max{2'000'000'000};  // >= backoff_first, up to an hour
  // Off, since what timed out may still be running over there, and the caller's time is mostly
  // gone. Sensible where an attempt has a far shorter time than the call, for lost packets and
  // stuck replicas.
  bool retry_timeouts = false;
};

// A call is tried once.
inline constexpr RetryPolicy kNoRetries = {.attempts_max = 1};

// Why there was no further attempt.
enum class RetryEnd {
  kOutcome,    // the outcome is not one to try again; success is one of them
  kAttempts,   // as many as there may be, counted over all layers; a breaker's probe has one
  kBudget,     // the dependency's retry budget is used up
  kDeadline,   // the pause would have ended after the deadline
  kRefused,    // the next one was refused on this side, by limit or breaker
  kCancelled,  // the caller asked to stop
};
// "outcome", "attempts", …; of static storage.
std::string_view ToString(RetryEnd end);

// Lists every violation as name, value and rule. OK if there is none.
absl::Status Validate(const RetryPolicy& policy);

}  // namespace plimsoll
