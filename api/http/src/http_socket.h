#pragma once

#include <poll.h>

// <utility> comes first: <boost/asio/awaitable.hpp> 1.74 uses std::exchange without including it.
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <memory>
#include <optional>

#include "api/http/src/tls_context.h"

namespace plimsoll::internal {

// A connection, encrypted or not, for Asio's algorithms. Confined to the listener's thread.
class HttpSocket {
 public:
  using Tcp = boost::asio::ip::tcp;
  using executor_type = Tcp::socket::executor_type;
  using Tls = boost::asio::ssl::stream<Tcp::socket&>;

  // Without `tls` it is not encrypted.
  HttpSocket(Tcp::socket socket, std::shared_ptr<TlsContext> tls)
      : socket_(std::move(socket)), context_(std::move(tls)) {
    if (context_ != nullptr) tls_.emplace(socket_, context_->asio());
  }

  executor_type get_executor() { return socket_.get_executor(); }
  // Null if it is not encrypted.
  Tls* tls() { return tls_.has_value() ? &*tls_ : nullptr; }
  // What lies below: for everything but reading and writing.
  Tcp::socket& tcp() { return socket_; }

  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    if (tls_) return tls_->async_read_some(buffers, std::forward<Token>(token));
    return socket_.async_read_some(buffers, std::forward<Token>(token));
  }
  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    if (tls_) return tls_->async_write_some(buffers, std::forward<Token>(token));
    return socket_.async_write_some(buffers, std::forward<Token>(token));
  }

  // The peer sends nothing any more, whatever lies unread.
  bool PeerHasClosed() {
    pollfd state{socket_.native_handle(), POLLRDHUP, 0};
    return poll(&state, 1, 0) > 0;
  }

 private:
  Tcp::socket socket_;
  std::shared_ptr<TlsContext> context_;
  std::optional<Tls> tls_;
};

}  // namespace plimsoll::internal
