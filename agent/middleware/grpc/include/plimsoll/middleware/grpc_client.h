#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_interceptor.h>

#include <functional>
#include <memory>
#include <string_view>

#include "plimsoll/agent/bulkhead.h"
#include "plimsoll/agent/call_options.h"
#include "plimsoll/agent/deadline.h"

namespace plimsoll {

struct GrpcClientOptions {
  // What a call of `method` ("/package.Service/Method") asks for; called in the calling thread, by
  // several at once. The context's deadline is looked at anyway. Empty: CallOptions(). A `wait`
  // blocks the thread that starts the call, whatever the API.
  std::function<CallOptions(std::string_view method, const grpc::ClientContext&)> call;
};

// For grpc::experimental::CreateCustomChannelWithInterceptors(): every call of the channel takes a
// permit when it starts, and ends it as OutcomeOfStatus() says when its status has arrived. A
// stream holds one permit all the time. A refused call is not sent and comes back with StatusOf().
// A call that is given up without asking for its status ends as kCancelled when its context is
// destroyed. `bulkhead` must outlive the channel.
//
// An interceptor is called when the deadline of the call is already fixed, so it cannot cut it:
// call CutAtDeadline() first.
std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface> MakeGrpcClientInterceptor(
    Bulkhead& bulkhead, GrpcClientOptions options = {});

// Before the call: its deadline becomes the earliest of its own, Deadline::Current() and
// `deadline`. The quota counts on calls that end within the policy's call deadline, so give that:
// CutAtDeadline(context, Deadline::In(call_deadline)).
void CutAtDeadline(grpc::ClientContext& context, Deadline deadline = Deadline::Never());

// The same, and the callee is told how many retries it may cause: RetryScope::Left(), if there is a
// bound. Once for a context.
void HandOnBudget(grpc::ClientContext& context, Deadline deadline = Deadline::Never());
// After the call has ended, in the thread of the RetryScopes: takes from them what the callee says
// that it has used.
void TakeRetriesUsed(const grpc::ClientContext& context);

}  // namespace plimsoll
