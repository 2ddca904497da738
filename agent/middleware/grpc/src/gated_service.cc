#include "agent/middleware/grpc/src/gated_service.h"

#include <grpc/byte_buffer.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/support/method_handler.h>
#include <grpcpp/support/server_callback.h>

#include <memory>
#include <utility>

#include "agent/middleware/grpc/src/server_call.h"

namespace plimsoll::internal {
namespace {

using grpc::ByteBuffer;
using grpc::internal::MethodHandler;
using grpc::internal::RpcMethod;
using grpc::internal::RpcServiceMethod;

// Answers a call of the callback API without looking at it. Deletes itself when gRPC is done.
class RefusingReactor final : public grpc::ServerBidiReactor<ByteBuffer, ByteBuffer> {
 public:
  explicit RefusingReactor(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

// To those who only send a status, all kinds of calls are alike.
void Answer(const MethodHandler::HandlerParameter& call, const grpc::Status& status,
            bool callback) {
  if (callback) {
    grpc::internal::CallbackBidiHandler<ByteBuffer, ByteBuffer>([&](grpc::CallbackServerContext*) {
      return new RefusingReactor(status);
    }).RunHandler(call);
  } else {
    grpc::internal::BidiStreamingHandler<grpc::Service, ByteBuffer, ByteBuffer>(
        [&](auto*, auto*, auto*) { return status; }, nullptr)
        .RunHandler(call);
  }
}

// Stands before the handler of one method. Thread-safe, as that is.
class Gate final : public MethodHandler {
 public:
  Gate(MethodHandler& inner, bool callback) : inner_(inner), callback_(callback) {}

  void* Deserialize(grpc_call* call, grpc_byte_buffer* message, grpc::Status* status,
                    void** data) override {
    const auto current = ServerCall::Find(call);
    if (current && current->Admit()) return inner_.Deserialize(call, message, status, data);
    grpc_byte_buffer_destroy(message);
    return nullptr;
  }

  void RunHandler(const HandlerParameter& param) override {
    const auto current = ServerCall::Find(param.call->server_rpc_info());
    if (!current) {
      Answer(param,
             {grpc::StatusCode::INTERNAL,
              "the server lacks the interceptor of its gate: call SetInterceptorCreators()"},
             callback_);
    } else if (!current->Admit()) {
      Answer(param, current->Refuse(), callback_);
    } else {
      current->Run([&] { inner_.RunHandler(param); });
    }
  }

 private:
  MethodHandler& inner_;
  const bool callback_;
};

// A generated service shows its handlers to those who derive from it only.
struct Handlers : grpc::Service {
  static MethodHandler& Of(grpc::Service& service, int index) {
    return *(service.*&Handlers::GetHandler)(index);
  }
};

RpcMethod::RpcType TypeOf(const google::protobuf::MethodDescriptor& method) {
  if (method.client_streaming()) {
    return method.server_streaming() ? RpcMethod::BIDI_STREAMING : RpcMethod::CLIENT_STREAMING;
  }
  return method.server_streaming() ? RpcMethod::SERVER_STREAMING : RpcMethod::NORMAL_RPC;
}

}  // namespace

GatedService::GatedService(grpc::Service& service,
                           const google::protobuf::ServiceDescriptor& descriptor) {
  const bool callback = service.has_callback_methods();
  for (int i = 0; i < descriptor.method_count(); ++i) {
    const auto& method = *descriptor.method(i);
    names_.push_back("/" + descriptor.full_name() + "/" + method.name());
    auto gate = std::make_unique<Gate>(Handlers::Of(service, i), callback);
    auto gated =
        std::make_unique<RpcServiceMethod>(names_.back().c_str(), TypeOf(method), gate.release());
    if (callback) gated->SetServerApiType(RpcServiceMethod::ApiType::CALL_BACK);
    AddMethod(gated.release());
  }
}

}  // namespace plimsoll::internal
