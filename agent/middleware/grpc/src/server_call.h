#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_interceptor.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "agent/middleware/even_spread.h"
#include "plimsoll/agent/bulkhead.h"
#include "plimsoll/agent/call_scope.h"
#include "plimsoll/agent/deadline.h"
#include "plimsoll/agent/permit.h"
#include "plimsoll/middleware/grpc_server.h"

namespace plimsoll::internal {

// What all calls of a server share. Thread-safe.
struct ServerCallSettings {
  Bulkhead& bulkhead;
  const GrpcServerOptions options;
  mutable EvenSpread<std::chrono::milliseconds> pushback{options.pushback_min,
                                                         options.pushback_max};
};

// One call, from the moment that gRPC makes its interceptors until it lets go of them. gRPC has no
// place where an interceptor could leave something for a handler, so the call that a thread is
// about to handle is remembered there. Confined to the thread that handles the call, then to that
// which sends its status.
class ServerCall {
 public:
  ServerCall(grpc::experimental::ServerRpcInfo& info, const ServerCallSettings& settings)
      : info_(info), settings_(settings) {}
  ~ServerCall();

  // The call whose interceptors were made last in this thread, if it is this one.
  static std::shared_ptr<ServerCall> Find(const grpc_call* call);
  static std::shared_ptr<ServerCall> Find(const grpc::experimental::ServerRpcInfo* info);
  static void Remember(const std::shared_ptr<ServerCall>& call);

  // Takes the permit, the first time. False if the call is refused.
  bool Admit();
  // Requires !Admit(). The answer; adds when to come back.
  grpc::Status Refuse();
  // Calls the handler within what the caller and the bulkhead allow. Requires Admit().
  void Run(const std::function<void()>& handler);
  // Retries that it has used, to be told; nothing if the caller did not say how many it may use, or
  // the handler does not run in this thread now.
  std::optional<int> retries_used() const;
  // The handler has ended with this status.
  void End(grpc::StatusCode code);

 private:
  Outcome OutcomeOf(grpc::StatusCode code) const;

  grpc::experimental::ServerRpcInfo& info_;
  const ServerCallSettings& settings_;
  std::optional<Permit> permit_;
  std::optional<Rejection> refused_;
  Deadline asked_;  // by the caller
  std::chrono::nanoseconds slack_{0};
  CallBudget budget_;
  bool tell_retries_ = false;  // the caller counts them
};

}  // namespace plimsoll::internal
