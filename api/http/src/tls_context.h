#pragma once

#include <openssl/ssl.h>

// <utility> comes first: <boost/asio/awaitable.hpp> 1.74 uses std::exchange without including it.
#include <utility>

#include <boost/asio/ssl/context.hpp>

#include <string>
#include <vector>

namespace plimsoll::internal {

// The certificates of a listener, shared by its connections: those that began with it keep it.
class TlsContext {
 public:
  explicit TlsContext(boost::asio::ssl::context context) : context_(std::move(context)) {}

  boost::asio::ssl::context& asio() { return context_; }

 private:
  boost::asio::ssl::context context_;
};

// The subject alternative names of the certificate that the client has proved to own, as SanKey()
// has them; none without one.
std::vector<std::string> ClientNames(SSL* connection);

}  // namespace plimsoll::internal
