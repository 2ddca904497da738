#pragma once

#include <string_view>

namespace plimsoll {

// How an admitted call ended. One word for what every layer needs to know of it; what is tried
// again is in retry_policy.h:
//
//               limit: sample, ending   breaker    retry        metric `kind`
//   kSuccess    yes, succeeded          success    no           -
//   kError      yes, succeeded          failure    idempotent   error
//   kOverload   yes, dropped            nothing    yes          overload
//   kTimeout    yes, dropped            failure    if told so   timeout
//   kCancelled  no, ignored             nothing    no           cancelled
//   kIgnored    no, ignored             nothing    no           -
enum class Outcome {
  kSuccess,    // an answer; errors that are the caller's own (a 404) among them
  kError,      // the dependency failed, but not by load: a 500, a reset connection
  kOverload,   // it said that it has too much to do: 429, 503, RESOURCE_EXHAUSTED
  kTimeout,    // no answer before the deadline
  kCancelled,  // the caller gave up; says nothing of the dependency
  kIgnored,    // never sent, or not to be counted
};
inline constexpr int kOutcomes = 6;

// "success", "error", …; of static storage.
std::string_view ToString(Outcome outcome);

}  // namespace plimsoll
