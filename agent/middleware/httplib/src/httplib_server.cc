#include "plimsoll/middleware/httplib_server.h"

#include <memory>
#include <string>
#include <utility>

#include "agent/middleware/httplib/src/request_gate.h"

namespace plimsoll {
namespace {

constexpr int kStatusTooManyRequests = 429;
constexpr int kStatusError = 500;
constexpr int kStatusUnavailable = 503;
constexpr int kStatusTimeout = 504;

}  // namespace

absl::Status Validate(const HttplibServerOptions& options) {
  using std::chrono::seconds;
  std::string faults;
  const auto require = [&](bool holds, const std::string& fault) {
    if (!holds) faults += (faults.empty() ? "" : "; ") + fault;
  };
  require(options.time_left_max >= std::chrono::milliseconds(1) &&
              options.time_left_max <= std::chrono::hours(24),
          "time_left_max (" + std::to_string(options.time_left_max.count()) +
              " ms) must be between 1 ms and a day");
  require(options.retry_after_min >= seconds(1) && options.retry_after_max <= seconds(3600) &&
              options.retry_after_min <= options.retry_after_max,
          "retry_after_min (" + std::to_string(options.retry_after_min.count()) +
              " s) and retry_after_max (" + std::to_string(options.retry_after_max.count()) +
              " s) must be between 1 and 3600 seconds, in this order");
  return faults.empty() ? absl::OkStatus() : absl::InvalidArgumentError(faults);
}

absl::Status LimitServer(httplib::Server& server, Bulkhead& bulkhead,
                         HttplibServerOptions options) {
  if (absl::Status valid = Validate(options); !valid.ok()) return valid;
  const auto gate = std::make_shared<internal::RequestGate>(bulkhead, std::move(options));
  server.set_expect_100_continue_handler(
      [gate](const auto& request, auto& response) { return gate->OnExpect(request, response); });
  server.set_pre_routing_handler([gate](const auto& request, auto& response) {
    return gate->OnPreRouting(request, response);
  });
  server.set_post_routing_handler(
      [gate](const auto& request, auto& response) { gate->OnPostRouting(request, response); });
  server.set_logger(
      [gate](const auto& request, const auto& response) { gate->OnWritten(request, response); });
  return absl::OkStatus();
}

Outcome OutcomeOfStatus(int status) {
  if (status == kStatusTooManyRequests || status == kStatusUnavailable) return Outcome::kOverload;
  if (status == kStatusTimeout) return Outcome::kTimeout;
  return status >= kStatusError ? Outcome::kError : Outcome::kSuccess;
}

std::string_view HeaderView(const httplib::Request& request, const std::string& name) {
  const auto found = request.headers.find(name);
  return found == request.headers.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace plimsoll
