#pragma once

#include <httplib.h>

#include <chrono>
#include <optional>
#include <string>

#include "plimsoll/agent/bulkhead.h"
#include "plimsoll/agent/call_options.h"
#include "plimsoll/agent/deadline.h"
#include "plimsoll/agent/outcome.h"
#include "plimsoll/agent/permit.h"

namespace plimsoll {

struct HttplibClientOptions {
  // Header in which the dependency is told how many milliseconds are left. Empty: none.
  std::string time_left_header = "Plimsoll-Time-Left-Ms";
  // Header in which it is told how many retries it may cause, RetryScope::Left(), if there is a
  // bound. What it says that it has used is taken from the scopes. Empty: none of both.
  std::string retries_left_header = "Plimsoll-Retries-Left";
  // Longest time for making the connection; a quarter of the time left if that is less.
  std::chrono::nanoseconds connect_max{1'000'000'000};
  // Longest time of a call for which neither permit, caller nor scope names a deadline.
  std::chrono::nanoseconds time_max{30'000'000'000};
  // What a dependency asks for beyond it is cut.
  std::chrono::seconds retry_after_max{300};
};

// What became of a call.
struct HttplibAnswer {
  // The answer, or cpp-httplib's error; none of both if the call was not sent.
  httplib::Result result{nullptr, httplib::Error::Success};
  // Why it was not sent.
  std::optional<Rejection> rejection = {};
  Outcome outcome = Outcome::kIgnored;
  // For how long the dependency asked to be left alone.
  std::optional<std::chrono::seconds> retry_after = {};
};

// Sends `request` (method, path, headers, body; a content receiver, if any) over `client`, and has
// ended at `deadline`, or Deadline::Current() if that is earlier; kDeadline if it has passed. Sets
// the client's time-outs, and cuts a body that arrives in drips. cpp-httplib cannot cut two things:
// it starts its time-out anew for each piece of an answer's head and of a request's body. A
// dependency that drips those can hold a call longer; stats().overran of the bulkhead counts it.
//
// `client` is used by one thread at a time, as ever.
HttplibAnswer SendBy(Deadline deadline, httplib::Client& client, const httplib::Request& request,
                     const HttplibClientOptions& options = {});

// The same if `bulkhead` has a permit for it, by the deadline of the permit and of `call`; ends the
// permit by the outcome. Waits for the permit if `call.wait` says so. `bulkhead` is thread-safe.
// For calls that go through a Guard, take SendBy() as its function.
HttplibAnswer Send(httplib::Client& client, Bulkhead& bulkhead, const httplib::Request& request,
                   const CallOptions& call = {}, const HttplibClientOptions& options = {},
                   CallSite site = CallSite::Here());

// How a call ended. An answer by its status, see OutcomeOfStatus(). No answer: kTimeout if the time
// was up (`timed_out`) or the connection was not made in time; kCancelled if a receiver or
// progress function of the caller's ended it; kIgnored if it cannot have been sent; else kError.
Outcome OutcomeOf(const httplib::Result& result, bool timed_out);

}  // namespace plimsoll
