#pragma once

#include <string>
#include <string_view>

#include "plimsoll/agent/deadline.h"
#include "plimsoll/agent/retry_scope.h"

namespace plimsoll {

// What the work for an incoming call may still use, in time and in retries. A value, which travels
// with a call from process to process, so that no layer gets a fresh budget of its own.
struct CallBudget {
  Deadline deadline = {};
  int retries = RetryScope::kUnlimited;

  // What this thread has: Deadline::Current() and RetryScope::Left().
  static CallBudget Current();
  // The lesser of both, in each.
  CallBudget CutTo(const CallBudget& limits) const;
};

// Header and metadata names; gRPC wants lower case, HTTP does not care. Time left travels in gRPC's
// own grpc-timeout there.
inline constexpr char kTimeLeftHeader[] = "plimsoll-time-left-ms";
inline constexpr char kRetriesLeftHeader[] = "plimsoll-retries-left";
// In the answer, so that the caller does not use them again.
inline constexpr char kRetriesUsedHeader[] = "plimsoll-retries-used";

// As text, for the first two; empty if there is no bound. Time is rounded down, 0 if it is over.
std::string TimeLeftText(Deadline deadline);
std::string RetriesLeftText(int retries);

// Reads what a caller says of its budget: each 1 to 9 digits and nothing else, not even a sign or a
// space; whatever is not that counts as not said. Cut it to what this side allows: what a caller
// says may lower that, and never raise it.
CallBudget ParseCallBudget(std::string_view time_left_ms, std::string_view retries_left);
// The number of an answer's kRetriesUsedHeader, for RetryScope::Take(); 0 if it is malformed. The
// most that a dependency can do with it is to keep its caller from trying again.
int ParseRetriesUsed(std::string_view retries_used);

// A server opens one around the work of a call: DeadlineScope and RetryScope in one. Confined to
// the thread that made it; scopes end in the reverse order of their beginning.
class [[nodiscard]] CallScope {
 public:
  explicit CallScope(const CallBudget& budget);

  // Retries that the work in it has used so far, here and further down, if there was a bound to
  // them: what to tell the caller. To be asked outside of scopes within it.
  int retries_used() const { return given_ - RetryScope::Left(); }

 private:
  const DeadlineScope deadline_;
  const RetryScope retries_;
  const int given_;
};

}  // namespace plimsoll
