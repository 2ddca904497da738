#pragma once

#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_interceptor.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "plimsoll/agent/bulkhead.h"
#include "plimsoll/agent/call_options.h"
#include "plimsoll/agent/retry_scope.h"

namespace plimsoll {

// How a gRPC server sheds. The function is called in the server's threads, at once by several, and
// must not throw.
struct GrpcServerOptions {
  // What a call of `method` ("/package.Service/Method") asks for. Metadata is what the caller
  // claims, so take class, tenant and cost only from callers you trust. `tenant` must point into
  // the context's metadata. A cost or priority out of range is cut to it. The call's own deadline
  // is looked at anyway. Empty: CallOptions(). With a `wait`, a queueing call keeps its thread, so
  // do not use it with the callback API.
  std::function<CallOptions(std::string_view method, const grpc::ServerContextBase&)> call;

  // Refusals tell clients that retry when to do so (grpc-retry-pushback-ms), spread evenly over
  // this range so that they do not come back together. 1 ms <= min <= max <= an hour.
  std::chrono::milliseconds pushback_min{100};
  std::chrono::milliseconds pushback_max{2000};

  // The most retries that the work for a call may cause, here and further down; negative: none. A
  // caller that says fewer (kRetriesLeftHeader, see HandOnBudget()) is told by a synchronous
  // handler's trailers how many were used.
  int retries_max = RetryScope::kUnlimited;
};

// Lists every violation as name, value and rule. OK if there is none.
absl::Status Validate(const GrpcServerOptions& options);

// Makes the calls of a server take permits of a bulkhead, one per call, streams included: from
// before its first message is parsed until its status is sent. A refused call is answered with
// StatusOf(), and neither parsed nor handled. The permit ends as OutcomeOfStatus() says of the
// handler's status; if the caller went away first, as kTimeout if its deadline had passed, else as
// kCancelled. While a synchronous handler runs, and a callback handler makes its reactor,
// Deadline::Current() is what the caller and the bulkhead allow, and RetryScope::Left() what the
// caller and the options do.
//
//   GrpcServerGate gate(bulkhead);
//   grpc::ServerBuilder builder;
//   gate.Register(builder, echo, Echo::service_full_name());  // instead of RegisterService(&echo)
//   builder.experimental().SetInterceptorCreators(gate.MakeInterceptors());
//
// Services that are registered with the builder itself, such as health checks, are never refused.
// Both steps are needed; a registered service without the interceptor answers INTERNAL to all. Must
// outlive the server, as must `bulkhead`. Not thread-safe before the server is built, thread-safe
// from then on.
class GrpcServerGate {
 public:
  // Aborts if Validate(options) finds faults.
  explicit GrpcServerGate(Bulkhead& bulkhead, GrpcServerOptions options = {});
  ~GrpcServerGate();
  GrpcServerGate(const GrpcServerGate&) = delete;
  GrpcServerGate& operator=(const GrpcServerGate&) = delete;

  // Registers a service of the synchronous or of the callback API, all of it of one kind, whose
  // name in its .proto is `full_name`. It must outlive the server. kNotFound if no generated code
  // with descriptors knows the name; kInvalidArgument for other APIs: gRPC 1.51 cannot refuse for
  // completion queues, since it is the program that takes the call. Take a permit there yourself.
  absl::Status Register(grpc::ServerBuilder& builder, grpc::Service& service,
                        const std::string& full_name);

  // For SetInterceptorCreators(), which can be called once: add your own behind it.
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>
  MakeInterceptors() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plimsoll
