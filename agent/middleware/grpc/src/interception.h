#pragma once

#include <grpcpp/support/interceptor.h>

namespace plimsoll::internal {

// What the interceptors of both ends are made of, without gRPC's long names.
using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::Interceptor;
using grpc::experimental::InterceptorBatchMethods;

}  // namespace plimsoll::internal
