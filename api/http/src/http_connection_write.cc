// The writing half of a connection.
// <utility> comes first: <boost/asio/awaitable.hpp> 1.74 uses std::exchange without including it.
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/status.hpp>

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "api/http/src/http_connection.h"

namespace plimsoll::internal {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using beast::error_code;

// Most heads of answers are shorter.
constexpr std::size_t kHeadBytes = 320;
// What the system may hold of a stream, so that a slow reader is noticed and costs little.
constexpr int kStreamBufferBytes = 64 << 10;

}  // namespace

std::string HttpConnection::HeadOfResponse(const Parser& parser, const std::string& request_id,
                                           const HttpResponse& response, bool keep_alive) {
  const auto status = static_cast<http::status>(response.status);
  const beast::string_view reason = http::obsolete_reason(status);
  std::string head;
  head.reserve(kHeadBytes);
  absl::StrAppend(&head, "HTTP/1.1 ", response.status, " ",
                  absl::string_view(reason.data(), reason.size()),
                  "\r\nServer: ", context_.server_name, "\r\nDate: ", Date(),
                  "\r\nCache-Control: ", response.cache_control, "\r\n");
  if (!response.content_type.empty() && HasBody(response.status)) {
    const std::string_view type = response.content_type;
    absl::StrAppend(&head, "Content-Type: ", absl::string_view(type.data(), type.size()), "\r\n");
  }
  if (HasBody(response.status) && !response.stream) {
    absl::StrAppend(&head, "Content-Length: ", response.body.size(), "\r\n");
  }
  for (const auto& [name, value] : response.headers) {
    absl::StrAppend(&head, name, ": ", value, "\r\n");
  }
  absl::StrAppend(&head, "X-Request-Id: ", request_id, "\r\n");
  if (!keep_alive) {
    absl::StrAppend(&head, "Connection: close\r\n");
  } else if (parser.get().version() < 11) {
    absl::StrAppend(&head, "Connection: keep-alive\r\n");
  }
  absl::StrAppend(&head, "\r\n");
  return head;
}

std::array<asio::const_buffer, 2> HttpConnection::Parts::From(std::size_t written) const {
  const std::size_t of_head = std::min(written, head.size());
  const std::size_t of_body = written - of_head;
  return {asio::buffer(head.data() + of_head, head.size() - of_head),
          asio::buffer(body.data() + of_body, body.size() - of_body)};
}

// What the socket takes at once, mostly all. Returns how much.
std::size_t HttpConnection::WriteNow(const Parts& parts) {
  if (socket_.tls() != nullptr) return 0;
  error_code error;
  const std::size_t written = socket_.tcp().write_some(parts.From(0), error);
  const bool full = error == asio::error::would_block || error == asio::error::try_again;
  if (error && !full) gone_ = true;
  return written;
}

asio::awaitable<void> HttpConnection::WriteRest(const Parts& parts, std::size_t written) {
  SetDeadline(context_.limits.write_time_max);
  error_code error;
  co_await asio::async_write(socket_, parts.From(written),
                             asio::redirect_error(asio::use_awaitable, error));
  deadline_ = kInfiniteFuture;
  if (error) gone_ = true;
}

asio::awaitable<void> HttpConnection::WriteStream(BodyStream& stream) {
  error_code ignored;
  socket_.tcp().set_option(asio::socket_base::send_buffer_size(kStreamBufferBytes), ignored);
  stream.OnChange([this, &stream] {
    if (stream.broken()) {
      gone_ = true;
      error_code no_error;
      socket_.tcp().cancel(no_error);
    }
    signal_.cancel();
  });
  WatchPeer();
  while (!gone_) {
    const std::vector<BodyStream::Piece> pieces = stream.Take();
    if (!pieces.empty()) {
      co_await WritePieces(pieces);
    } else if (stream.ended()) {
      break;
    } else {
      co_await signal_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
  }
  if (watching_) socket_.tcp().cancel(ignored);
}

asio::awaitable<void> HttpConnection::WritePieces(const std::vector<BodyStream::Piece>& pieces) {
  std::vector<asio::const_buffer> buffers;
  buffers.reserve(pieces.size());
  for (const BodyStream::Piece& piece : pieces) buffers.push_back(asio::buffer(*piece));
  SetDeadline(context_.limits.write_time_max);
  error_code error;
  co_await asio::async_write(socket_, buffers, asio::redirect_error(asio::use_awaitable, error));
  deadline_ = kInfiniteFuture;
  if (error) gone_ = true;
}

const std::string& HttpConnection::Date() {
  const absl::Time now = context_.clock.WallTime();
  const std::int64_t second = absl::ToUnixSeconds(now);
  if (context_.date.empty() || second != context_.date_second) {
    context_.date_second = second;
    context_.date = absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", now, absl::UTCTimeZone());
  }
  return context_.date;
}

}  // namespace plimsoll::internal
