#include "plimsoll/middleware/grpc_outcome.h"

namespace plimsoll {

Outcome OutcomeOfStatus(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::UNAVAILABLE:
      return Outcome::kOverload;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return Outcome::kTimeout;
    case grpc::StatusCode::CANCELLED:
      return Outcome::kCancelled;
    case grpc::StatusCode::INTERNAL:
    case grpc::StatusCode::UNKNOWN:
    case grpc::StatusCode::DATA_LOSS:
      return Outcome::kError;
    default:
      return Outcome::kSuccess;
  }
}

grpc::Status StatusOf(Rejection rejection, const std::string& who) {
  const std::string message = who + " refused the call: " + std::string(ToString(rejection));
  switch (rejection) {
    case Rejection::kLimit:
    case Rejection::kQueueFull:
    case Rejection::kTenant:
      return {grpc::StatusCode::RESOURCE_EXHAUSTED, message};
    case Rejection::kDeadline:
      return {grpc::StatusCode::DEADLINE_EXCEEDED, message};
    case Rejection::kBreakerOpen:
    case Rejection::kDraining:
      break;
  }
  return {grpc::StatusCode::UNAVAILABLE, message};
}

}  // namespace plimsoll
