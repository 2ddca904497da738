#pragma once

#include <httplib.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "plimsoll/agent/bulkhead.h"
#include "plimsoll/agent/call_options.h"
#include "plimsoll/agent/outcome.h"
#include "plimsoll/agent/retry_scope.h"

namespace plimsoll {

// How a cpp-httplib server sheds. The functions are called in the server's threads, at once by
// several, and must not throw.
struct HttplibServerOptions {
  // Requests that are never refused and take no permit: health checks, metrics. Empty: none.
  std::function<bool(const httplib::Request&)> exempt;

  // What a request asks for. Only the head has been read: `body` and `params` of a form are empty.
  // Headers are what the caller claims, so take class, tenant and cost only from callers you trust.
  // `tenant` must point into the request, see HeaderView(). A cost or priority out of range is cut
  // to it. Empty: CallOptions(). With a `wait`, a queueing request keeps its thread.
  std::function<CallOptions(const httplib::Request&)> call;

  // Header with the milliseconds for which the caller waits for the answer, as HttplibClient sends
  // it: digits only, cut to `time_left_max`; anything else counts as absent. Empty: not looked at.
  std::string time_left_header = "Plimsoll-Time-Left-Ms";
  std::chrono::milliseconds time_left_max{600'000};  // 1 ms to a day

  // Header with the number of retries that the work for the request may cause, here and further
  // down, as the client sends it: 1 to 9 digits; anything else counts as absent. The answer says in
  // kRetriesUsedHeader how many it used, if its head is written after that. Empty: not looked at.
  std::string retries_left_header = "Plimsoll-Retries-Left";
  // The most that any request may cause, whatever it says; negative: none.
  int retries_max = RetryScope::kUnlimited;

  // Refusals spread Retry-After evenly over this range, so that clients do not come back together.
  // 1 <= min <= max <= 3600.
  std::chrono::seconds retry_after_min{1};
  std::chrono::seconds retry_after_max{5};

  // The server has one place for each of these, and LimitServer() takes it: give yours here. They
  // are called as the server would, `pre_routing` and `expect_100_continue` for admitted requests
  // only.
  httplib::Server::HandlerWithResponse pre_routing;
  httplib::Server::Handler post_routing;
  httplib::Server::Expect100ContinueHandler expect_100_continue;
  httplib::Logger logger;
};

// Lists every violation as name, value and rule. OK if there is none.
absl::Status Validate(const HttplibServerOptions& options);

// Makes every request take a permit of `bulkhead` when its head has been read: before the body is,
// and before anything of it is handled. A refused one is answered with 503, or 429 if its tenant
// has too many (Rejection::kTenant), with Retry-After. If it has a body, the connection is closed
// after the answer, since what is left of the body would be taken for the next request; callers
// that send "Expect: 100-continue" are answered before they send it.
//
// The permit ends, as OutcomeOfStatus() says, when the answer has been written, a streamed one
// included, also if the handler throws. Until then Deadline::Current() of the handler's thread is
// what the caller and the bulkhead allow, and RetryScope::Left() what caller and options do.
//
// Call it once, before the server listens; `bulkhead` must outlive the server. Returns the faults
// that Validate() finds, and changes nothing then.
absl::Status LimitServer(httplib::Server& server, Bulkhead& bulkhead,
                         HttplibServerOptions options = {});

// How a request ended that was answered with this status: kOverload for 429 and 503, kTimeout for
// 504, kError for the other 5xx, else kSuccess.
Outcome OutcomeOfStatus(int status);

// The first value of a header, or empty. Points into the request.
std::string_view HeaderView(const httplib::Request& request, const std::string& name);

}  // namespace plimsoll
