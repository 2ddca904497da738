#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "api/http/src/authenticator.h"
#include "api/http/src/http_message.h"
#include "api/http/src/plane_metrics.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/http/server.h"

namespace plimsoll::internal {
class TlsContext;
}  // namespace plimsoll::internal

namespace boost::asio {
class io_context;
}  // namespace boost::asio

namespace plimsoll::internal {

// Accepts connections, keeps their number and their time within limits. Deadlines are looked at
// four times a second, so they are kept to a quarter of a second.
// Bind() apart, confined to the thread that runs the loop, or to the time before it runs.
class HttpListener {
 public:
  // The loop, the service, the metrics and the clock must outlive the listener; the listener must
  // outlive the last run of the loop.
  HttpListener(boost::asio::io_context& loop, const ListenerLimits& limits, std::string server_name,
               HttpService& service, PlaneMetrics& metrics, Authenticator authenticator,
               const Clock& clock);
  ~HttpListener();

  // Returns kInvalidArgument for an address that is not numeric, kUnavailable if it is taken.
  absl::Status Bind(const ListenAddress& address);
  std::uint16_t port() const;

  void Start();
  // From the next request on, also of connections there are.
  void SetAuthenticator(Authenticator authenticator);
  // For connections to come; null: they are not encrypted.
  void SetTls(std::shared_ptr<TlsContext> tls);
  // Accepts no more, closes idle connections, and the others once they are answered. Calls `done`
  // when none is left.
  void Drain(std::function<void()> done);
  // Closes everything, so that the loop can end.
  void Abort();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plimsoll::internal
