#include "plimsoll/middleware/grpc_client.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "agent/middleware/ask.h"
#include "agent/middleware/grpc/src/grpc_deadline.h"
#include "agent/middleware/grpc/src/interception.h"
#include "agent/middleware/grpc/src/metadata.h"
#include "plimsoll/agent/call_scope.h"
#include "plimsoll/middleware/grpc_outcome.h"

namespace plimsoll {
namespace {

using grpc::experimental::ClientInterceptorFactoryInterface;
using grpc::experimental::ClientRpcInfo;

// One call: confined to whatever thread gRPC processes its batches in, one after the other.
class ClientCall final : public internal::Interceptor {
 public:
  ClientCall(ClientRpcInfo& info, Bulkhead& bulkhead, const GrpcClientOptions& options)
      : info_(info), bulkhead_(bulkhead), options_(options) {}
  ~ClientCall() override {
    if (permit_) permit_->Finish(Outcome::kCancelled);
  }

  void Intercept(internal::InterceptorBatchMethods* batch) override {
    using enum internal::InterceptionHookPoints;
    if (batch->QueryInterceptionHookPoint(PRE_SEND_INITIAL_METADATA) && !Admit()) {
      batch->Hijack();  // comes back here with what the caller wants to receive
      return;
    }
    if (refused_) {
      Refuse(*batch);
    } else if (batch->QueryInterceptionHookPoint(POST_RECV_STATUS)) {
      permit_->Finish(OutcomeOfStatus(batch->GetRecvStatus()->error_code()));
    }
    batch->Proceed();
  }

 private:
  bool Admit() {
    const grpc::ClientContext& context = *info_.client_context();
    const auto& describe = options_.call;
    CallOptions call =
        describe ? internal::Bounded(describe(info_.method(), context)) : CallOptions();
    call.deadline = std::min(call.deadline, internal::FromGrpc(context.raw_deadline()));
    Admission admission = internal::Ask(bulkhead_, call, CallSite::Here());
    if (admission) {
      permit_.emplace(*std::move(admission));
    } else {
      refused_ = admission.rejection();
    }
    return permit_.has_value();
  }

  void Refuse(internal::InterceptorBatchMethods& batch) const {
    using enum internal::InterceptionHookPoints;
    if (batch.QueryInterceptionHookPoint(PRE_SEND_MESSAGE)) batch.FailHijackedSendMessage();
    if (batch.QueryInterceptionHookPoint(PRE_RECV_MESSAGE)) batch.FailHijackedRecvMessage();
    if (batch.QueryInterceptionHookPoint(PRE_RECV_STATUS)) {
      *batch.GetRecvStatus() = StatusOf(*refused_, "the bulkhead of " + bulkhead_.dependency());
    }
  }

  ClientRpcInfo& info_;
  Bulkhead& bulkhead_;
  const GrpcClientOptions& options_;
  std::optional<Permit> permit_;
  std::optional<Rejection> refused_;
};

class ClientCalls final : public ClientInterceptorFactoryInterface {
 public:
  ClientCalls(Bulkhead& bulkhead, GrpcClientOptions options)
      : bulkhead_(bulkhead), options_(std::move(options)) {}

  internal::Interceptor* CreateClientInterceptor(ClientRpcInfo* info) override {
    return new ClientCall(*info, bulkhead_, options_);
  }

 private:
  Bulkhead& bulkhead_;
  const GrpcClientOptions options_;
};

}  // namespace

std::unique_ptr<ClientInterceptorFactoryInterface> MakeGrpcClientInterceptor(
    Bulkhead& bulkhead, GrpcClientOptions options) {
  return std::make_unique<ClientCalls>(bulkhead, std::move(options));
}

void CutAtDeadline(grpc::ClientContext& context, Deadline deadline) {
  const Deadline own = internal::FromGrpc(context.raw_deadline());
  context.set_deadline(internal::ToGrpc(std::min({own, Deadline::Current(), deadline})));
}

void HandOnBudget(grpc::ClientContext& context, Deadline deadline) {
  CutAtDeadline(context, deadline);
  const std::string left = RetriesLeftText(RetryScope::Left());
  if (!left.empty()) context.AddMetadata(kRetriesLeftHeader, left);
}

void TakeRetriesUsed(const grpc::ClientContext& context) {
  RetryScope::Take(ParseRetriesUsed(
      internal::MetadataView(context.GetServerTrailingMetadata(), kRetriesUsedHeader)));
}

}  // namespace plimsoll
