#pragma once

#include <chrono>
#include <optional>
#include <type_traits>
#include <utility>

#include "plimsoll/agent/outcome.h"
#include "plimsoll/agent/permit.h"
#include "plimsoll/agent/retry_policy.h"

namespace plimsoll {

// What became of a call.
struct GuardReport {
  // Attempts that were made. 0: the call was refused on this side, and `rejection` says why, or it
  // was cancelled before there was one.
  int attempts = 0;
  // Set if the call was refused, or if a retry was (end is kRefused then, and `outcome` holds).
  std::optional<Rejection> rejection;
  // Of the last attempt.
  Outcome outcome = Outcome::kIgnored;
  // Why it was the last. Says nothing if there was none.
  RetryEnd end = RetryEnd::kOutcome;
  // When it makes sense to try again, as far as the breaker or the dependency said; zero: unknown.
  // Hand it on to your own caller.
  std::chrono::nanoseconds retry_after{0};

  bool ok() const { return attempts > 0 && outcome == Outcome::kSuccess; }
  bool refused() const { return attempts == 0 && rejection.has_value(); }
  // Ended because its stop_token said so; without a token never. The outcome is that of the last
  // attempt, or kCancelled if there was none.
  bool cancelled() const { return end == RetryEnd::kCancelled; }
};

// The same with what the last attempt returned, whatever its outcome; without a value if none was
// made.
template <typename T>
struct [[nodiscard]] GuardResult : GuardReport {
  std::optional<T> value;
};
template <>
struct [[nodiscard]] GuardResult<void> : GuardReport {};

namespace internal {

// What a guarded function may return: how it ended, alone or in a pair with a value.
template <typename R>
struct GuardAnswer {
  static_assert(std::is_convertible_v<R, AttemptEnd>,
                "return an Outcome, an AttemptEnd, or a std::pair of one of them and a value");
  using Value = void;
  static AttemptEnd Take(R&& answer, GuardResult<void>&) { return answer; }
};
template <typename End, typename T>
struct GuardAnswer<std::pair<End, T>> {
  static_assert(std::is_convertible_v<End, AttemptEnd>,
                "the first of the pair must be an Outcome or an AttemptEnd");
  using Value = T;
  static AttemptEnd Take(std::pair<End, T>&& answer, GuardResult<T>& result) {
    result.value.emplace(std::move(answer.second));
    return answer.first;
  }
};

}  // namespace internal
}  // namespace plimsoll
