#include "plimsoll/middleware/grpc_server.h"

#include <google/protobuf/descriptor.h>

#include <cstdlib>
#include <deque>
#include <iostream>
#include <utility>

#include "agent/middleware/grpc/src/gated_service.h"
#include "agent/middleware/grpc/src/interception.h"
#include "agent/middleware/grpc/src/server_call.h"
#include "plimsoll/agent/call_scope.h"

namespace plimsoll {
namespace {

using grpc::experimental::ServerInterceptorFactoryInterface;
using grpc::experimental::ServerRpcInfo;

// Sees the status that a handler sends.
class StatusWatch final : public internal::Interceptor {
 public:
  explicit StatusWatch(std::shared_ptr<internal::ServerCall> call) : call_(std::move(call)) {}

  void Intercept(internal::InterceptorBatchMethods* batch) override {
    if (batch->QueryInterceptionHookPoint(internal::InterceptionHookPoints::PRE_SEND_STATUS)) {
      call_->End(batch->GetSendStatus().error_code());
      if (const auto used = call_->retries_used()) {
        batch->GetSendTrailingMetadata()->emplace(kRetriesUsedHeader, std::to_string(*used));
      }
    }
    batch->Proceed();
  }

 private:
  const std::shared_ptr<internal::ServerCall> call_;
};

class StatusWatches final : public ServerInterceptorFactoryInterface {
 public:
  explicit StatusWatches(const internal::ServerCallSettings& settings) : settings_(settings) {}

  internal::Interceptor* CreateServerInterceptor(ServerRpcInfo* info) override {
    auto call = std::make_shared<internal::ServerCall>(*info, settings_);
    internal::ServerCall::Remember(call);
    return new StatusWatch(std::move(call));
  }

 private:
  const internal::ServerCallSettings& settings_;
};

void AbortUnless(const absl::Status& valid) {
  if (valid.ok()) return;
  std::cerr << "plimsoll: GrpcServerGate: " << valid.message() << '\n';
  std::abort();
}

}  // namespace

absl::Status Validate(const GrpcServerOptions& options) {
  using std::chrono::milliseconds;
  const auto [min, max] = std::pair(options.pushback_min, options.pushback_max);
  if (min >= milliseconds(1) && min <= max && max <= std::chrono::hours(1)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("pushback_min (" + std::to_string(min.count()) +
                                    " ms) and pushback_max (" + std::to_string(max.count()) +
                                    " ms) must be between 1 ms and an hour, in this order");
}

class GrpcServerGate::Impl {
 public:
  const internal::ServerCallSettings settings;
  std::deque<internal::GatedService> services;
};

GrpcServerGate::GrpcServerGate(Bulkhead& bulkhead, GrpcServerOptions options) {
  AbortUnless(Validate(options));
  impl_.reset(new Impl{{bulkhead, std::move(options)}, {}});
}

GrpcServerGate::~GrpcServerGate() = default;

absl::Status GrpcServerGate::Register(grpc::ServerBuilder& builder, grpc::Service& service,
                                      const std::string& full_name) {
  const auto* descriptor =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(full_name);
  if (descriptor == nullptr) {
    return absl::NotFoundError("no service '" + full_name +
                               "' is among the generated ones: give its service_full_name()");
  }
  const bool other = service.has_async_methods() || service.has_generic_methods();
  if (other || service.has_synchronous_methods() == service.has_callback_methods()) {
    return absl::InvalidArgumentError(
        "the methods of '" + full_name +
        "' are not all synchronous, nor all of the callback API: only these can be refused");
  }
  builder.RegisterService(&impl_->services.emplace_back(service, *descriptor));
  return absl::OkStatus();
}

std::vector<std::unique_ptr<ServerInterceptorFactoryInterface>> GrpcServerGate::MakeInterceptors()
    const {
  std::vector<std::unique_ptr<ServerInterceptorFactoryInterface>> factories;
  factories.push_back(std::make_unique<StatusWatches>(impl_->settings));
  return factories;
}

}  // namespace plimsoll
