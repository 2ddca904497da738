#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "plimsoll/agent/async_call.h"
#include "plimsoll/agent/call_options.h"
#include "plimsoll/agent/guard.h"
#include "plimsoll/agent/guard_result.h"
#include "plimsoll/agent/outcome.h"

namespace plimsoll {

// What became of a call: the status of its last attempt; StatusOf() if it was refused on this side,
// and CANCELLED if it was cancelled before it had one.
struct [[nodiscard]] GrpcGuardResult : GuardReport {
  grpc::Status status;
};

// Unary calls to a dependency through breaker, bulkhead, retries and deadlines of attempts, in that
// order (see Guard), by one object:
//
//   GrpcGuard payments({.breaker = &breaker, .bulkhead = &bulkhead, .retry_budget = &budget},
//                      {.attempt_timeout = 300ms});
//   const GrpcGuardResult charged = payments.Call(
//       {.deadline = Deadline::In(1s), .idempotent = true}, [&](grpc::ClientContext& context) {
//         return stub->Charge(&context, request, &answer);
//       });
//
// Each attempt has a context of its own, which ends at the attempt's deadline and tells the callee
// how many retries it may cause; what it says that it has used is taken from the RetryScopes. What
// counts as what: OutcomeOfStatus(). A server that says grpc-retry-pushback-ms is obeyed, up to an
// hour, and if it is negative or malformed the call is not tried again.
//
// Use a channel without MakeGrpcClientInterceptor(), which would take a second permit, and without
// retries of gRPC's own. The layers must outlive it. Thread-safe.
class GrpcGuard {
 public:
  // Aborts if Validate(options) finds faults.
  explicit GrpcGuard(const GuardLayers& layers, GuardOptions options = {});

  // Runs `attempt` in the calling thread. A stop ends waits and pauses at once, and cancels the
  // attempt that runs.
  using Attempt = std::function<grpc::Status(grpc::ClientContext&)>;
  GrpcGuardResult Call(const CallOptions& options, const Attempt& attempt,
                       const std::stop_token& stop = {}, CallSite site = CallSite::Here());

  // The same without blocking, for stubs of the callback API; see CallAsync(), also for threads and
  // lifetimes. `start` hands `ended` on to gRPC, which calls it once:
  //
  //   [stub, call](grpc::ClientContext& context, std::function<void(grpc::Status)> ended) {
  //     stub->async()->Charge(&context, &call->request, &call->answer, std::move(ended));
  //   }
  //
  // Retries used by the callee are not taken from the scopes: its answer comes to another thread.
  using Start = std::function<void(grpc::ClientContext&, std::function<void(grpc::Status)>)>;
  void CallAsync(const CallOptions& options, Start start,
                 std::function<void(const GrpcGuardResult&)> done, AsyncCallOptions async = {},
                 CallSite site = CallSite::Here());

  const Guard& guard() const { return guard_; }

 private:
  GrpcGuardResult ResultOf(const GuardReport& report, const grpc::Status& status) const;

  const std::string name_;
  Guard guard_;
};

// How an attempt ended, and what the server's trailers say of the next. Requires that the call of
// `context` has ended with `status`.
AttemptEnd EndOfAttempt(const grpc::Status& status, const grpc::ClientContext& context);

}  // namespace plimsoll
