#pragma once

#include <google/protobuf/descriptor.h>
#include <grpcpp/impl/service_type.h>

#include <deque>
#include <string>

namespace plimsoll::internal {

// Stands before a service: has the same methods, and hands those calls on that are admitted.
//
// An interceptor of gRPC 1.51 cannot keep a call from its handler: whatever it does, the handler
// runs. So this is a service with handlers of its own, made of what generated services are made of,
// which decide before a message is parsed. Immutable once made.
class GatedService final : public grpc::Service {
 public:
  // `service` must outlive it and have all the methods that its descriptor has, in this order, as
  // generated ones do, either synchronous or as callbacks.
  GatedService(grpc::Service& service, const google::protobuf::ServiceDescriptor& descriptor);

 private:
  std::deque<std::string> names_;  // gRPC keeps pointers to them
};

}  // namespace plimsoll::internal
