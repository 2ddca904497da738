#include "api/http/src/http_connection.h"

#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>

#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "api/http/src/request_head.h"

namespace plimsoll::internal {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using beast::error_code;

constexpr std::size_t kReadBytes = 2048;
// Most heads of answers are shorter.
constexpr std::size_t kHeadBytes = 320;
// How long, and for how many bytes, a refused client is listened to, so that the answer reaches it
// before the reset that unread data would cause.
constexpr absl::Duration kLingerTime = absl::Seconds(1);
constexpr std::size_t kLingerBytesMax = std::size_t{4} << 20;
// What the system may hold of a stream, so that a slow reader is noticed and costs little.
constexpr int kStreamBufferBytes = 64 << 10;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// Tells the producer that the connection is done with its stream, whatever ended it.
class StreamEnd {
 public:
  explicit StreamEnd(BodyStream& stream) : stream_(stream) {}
  ~StreamEnd() { stream_.Close(slow); }
  StreamEnd(const StreamEnd&) = delete;
  StreamEnd& operator=(const StreamEnd&) = delete;

  bool slow = false;

 private:
  BodyStream& stream_;
};

std::string RemoteAddress(const tcp::socket& socket) {
  error_code ignored;
  return socket.remote_endpoint(ignored).address().to_string();
}

std::string LocalAddress(const tcp::socket& socket) {
  error_code ignored;
  return socket.local_endpoint(ignored).address().to_string();
}

bool HasBody(int status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace

HttpConnection::HttpConnection(tcp::socket socket, ConnectionContext& context,
                               std::function<void(HttpConnection&)> closed)
    : context_(context),
      closed_(std::move(closed)),
      remote_address_(RemoteAddress(socket)),
      local_address_(LocalAddress(socket)),
      socket_(std::move(socket), context.tls),
      signal_(socket_.get_executor(), asio::steady_timer::time_point::max()) {}

void HttpConnection::Start() {
  error_code ignored;
  socket_.tcp().set_option(tcp::no_delay(true), ignored);
  socket_.tcp().non_blocking(true, ignored);
  asio::co_spawn(
      socket_.get_executor(), [self = shared_from_this()] { return self->Run(); }, asio::detached);
}

void HttpConnection::CheckDeadline(Instant now) {
  if (blind_ && socket_.PeerHasClosed()) {
    gone_ = true;
    signal_.cancel();
  }
  if (now < deadline_) return;
  deadline_ = kInfiniteFuture;
  expired_ = true;
  error_code ignored;
  socket_.tcp().cancel(ignored);
}

void HttpConnection::Drain() {
  draining_ = true;
  if (!idle_) return;
  error_code ignored;
  socket_.tcp().cancel(ignored);
}

void HttpConnection::Abort() {
  gone_ = true;
  error_code ignored;
  socket_.tcp().close(ignored);
  signal_.cancel();
}

void HttpConnection::SetDeadline(absl::Duration time) {
  expired_ = false;
  deadline_ = context_.clock.Now() + time;
}

asio::awaitable<void> HttpConnection::Run() {
  try {
    const bool ready = co_await Handshake();
    while (ready && co_await ServeOne()) {
    }
    if (refused_) co_await Linger();
    if (ready) co_await Close();
  } catch (const std::exception&) {
    // Out of memory, or worse: this client is given up, the others are not.
  }
  error_code ignored;
  socket_.tcp().shutdown(tcp::socket::shutdown_both, ignored);
  socket_.tcp().close(ignored);
  closed_(*this);
}

asio::awaitable<bool> HttpConnection::Handshake() {
  if (socket_.tls() == nullptr) co_return true;
  SetDeadline(context_.limits.request_time_max);
  error_code error;
  co_await socket_.tls()->async_handshake(asio::ssl::stream_base::server,
                                          asio::redirect_error(asio::use_awaitable, error));
  if (error || expired_ || gone_) co_return false;
  certificate_names_ = ClientNames(socket_.tls()->native_handle());
  co_return true;
}

// Says goodbye, so that what was sent cannot be cut short by others unnoticed.
asio::awaitable<void> HttpConnection::Close() {
  if (socket_.tls() == nullptr || gone_) co_return;
  SetDeadline(kLingerTime);
  error_code ignored;
  co_await socket_.tls()->async_shutdown(asio::redirect_error(asio::use_awaitable, ignored));
}

asio::awaitable<bool> HttpConnection::ServeOne() {
  const bool begun = co_await AwaitFirstByte();
  if (!begun) co_return false;
  Parser parser;
  HttpRequest request;
  SetDeadline(context_.limits.request_time_max);
  std::optional<Problem> fault = co_await Read(parser, request);
  deadline_ = kInfiniteFuture;
  if (gone_) co_return false;

  const Instant started = context_.clock.Now();
  route_ = kNoRoute;
  held_ = absl::ZeroDuration();
  refused_ = fault.has_value();
  HttpResponse response;
  if (fault) {
    response = ProblemResponse(*std::move(fault));
  } else {
    response = co_await Answer(request);
  }
  std::optional<StreamEnd> stream_end;
  if (response.stream) stream_end.emplace(*response.stream);
  if (gone_) co_return false;
  RenderProblem(request, response);
  response.headers.emplace_back("X-Request-Id", request.request_id);

  const bool keep_alive = !refused_ && !draining_ && !response.stream && parser.get().keep_alive();
  // Before it is sent: whoever has an answer finds it counted, and slow readers are not our time.
  context_.metrics.CountRequest(MethodLabel(request.method), route_, response.status,
                                context_.clock.Now() - started - held_);
  co_await Write(parser, response, keep_alive);
  const bool head = parser.get().method() == http::verb::head;
  if (response.stream && !head && !gone_) {
    co_await WriteStream(*response.stream);
    stream_end->slow = gone_ && expired_;
  }
  co_return keep_alive && !gone_;
}

asio::awaitable<bool> HttpConnection::AwaitFirstByte() {
  if (buffer_.size() > 0) co_return true;
  if (draining_) co_return false;
  idle_ = true;
  SetDeadline(context_.limits.idle_time_max);
  error_code error;
  const std::size_t count = co_await socket_.async_read_some(
      buffer_.prepare(kReadBytes), asio::redirect_error(asio::use_awaitable, error));
  idle_ = false;
  buffer_.commit(count);
  co_return !error;
}

asio::awaitable<error_code> HttpConnection::ReadHead(Parser& parser) {
  FoldDetector folds;
  error_code error;
  while (!error && !parser.is_header_done()) {
    const std::size_t used = parser.put(buffer_.data(), error);
    if (folds.Finds({static_cast<const char*>(buffer_.data().data()), used})) {
      co_return http::error::bad_obs_fold;
    }
    buffer_.consume(used);
    if (error != http::error::need_more) continue;
    const std::size_t count = co_await socket_.async_read_some(
        buffer_.prepare(kReadBytes), asio::redirect_error(asio::use_awaitable, error));
    buffer_.commit(count);
  }
  parser.eager(true);
  co_return error;
}

asio::awaitable<std::optional<Problem>> HttpConnection::Read(Parser& parser, HttpRequest& request) {
  parser.header_limit(context_.limits.header_bytes_max);
  parser.body_limit(context_.limits.body_bytes_max);
  error_code error = co_await ReadHead(parser);
  FillHead(parser.get(), request);
  request.request_id = RequestId(parser);
  if (error) co_return ReadFault(error, parser);
  std::optional<Problem> fault = CheckHead(parser.get());
  if (fault) co_return fault;
  if (!parser.is_done()) {
    if (!parser.get()[http::field::expect].empty()) {
      co_await asio::async_write(socket_, asio::buffer(kContinue.data(), kContinue.size()),
                                 asio::redirect_error(asio::use_awaitable, error));
    }
    co_await http::async_read(socket_, buffer_, parser,
                              asio::redirect_error(asio::use_awaitable, error));
    if (error || expired_) co_return ReadFault(error, parser);
  }
  request.body = std::move(parser.get().body());
  request.local_address = local_address_;
  request.remote_address = remote_address_;
  request.certificate_names = certificate_names_;
  co_return std::nullopt;
}

Problem HttpConnection::ReadFault(const error_code& error, const Parser& parser) {
  const bool is_http = error.category() == make_error_code(http::error::end_of_stream).category();
  if (!expired_ &&
      (!is_http || error == http::error::end_of_stream || error == http::error::partial_message)) {
    gone_ = true;
    return {};
  }
  return expired_ ? TimeFault(context_.limits) : ParserFault(error, parser.get(), context_.limits);
}

asio::awaitable<HttpResponse> HttpConnection::Answer(HttpRequest& request) {
  const auto exchange = std::make_shared<Exchange>();
  try {
    context_.authenticator.Identify(request);
    route_ = context_.service.Handle(request, exchange);
  } catch (const std::exception&) {
    exchange->Reply(ProblemResponse(
        500, "INTERNAL", absl::StrCat("the server failed; request id ", request.request_id)));
  }
  if (!exchange->replied()) co_await AwaitReply(exchange);
  co_return exchange->replied() ? exchange->TakeResponse() : HttpResponse{};
}

asio::awaitable<void> HttpConnection::AwaitReply(const ExchangePtr& exchange) {
  const Instant begin = context_.clock.Now();
  exchange->OnReply([this] { signal_.cancel(); });
  if (exchange->held()) WatchPeer();
  error_code ignored;
  while (!exchange->replied() && !gone_) {
    co_await signal_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  blind_ = false;
  if (watching_) socket_.tcp().cancel(ignored);
  if (exchange->held()) held_ = context_.clock.Now() - begin;
  exchange->Abandon();
}

void HttpConnection::WatchPeer() {
  watching_ = true;
  socket_.tcp().async_wait(tcp::socket::wait_read,
                           [self = shared_from_this()](const error_code& error) {
                             self->watching_ = false;
                             if (!error) self->OnReadable();
                           });
}

// Either the peer closed, or it has sent its next request already, or, encrypted, its goodbye; then
// a close is looked for every now and then.
void HttpConnection::OnReadable() {
  char byte = 0;
  error_code error;
  socket_.tcp().receive(asio::buffer(&byte, 1), MSG_PEEK, error);
  blind_ = !error;
  if (!error || error == asio::error::would_block) return;
  gone_ = true;
  signal_.cancel();
}

asio::awaitable<void> HttpConnection::Write(const Parser& parser, const HttpResponse& response,
                                            bool keep_alive) {
  const std::string head = HeadOfResponse(parser, response, keep_alive);
  const bool bodiless = parser.get().method() == http::verb::head || !HasBody(response.status);
  const std::array<asio::const_buffer, 2> parts = {
      asio::buffer(head), asio::buffer(response.body.data(), bodiless ? 0 : response.body.size())};
  SetDeadline(context_.limits.write_time_max);
  error_code error;
  co_await asio::async_write(socket_, parts, asio::redirect_error(asio::use_awaitable, error));
  deadline_ = kInfiniteFuture;
  if (error) gone_ = true;
}

std::string HttpConnection::HeadOfResponse(const Parser& parser, const HttpResponse& response,
                                           bool keep_alive) {
  const auto status = static_cast<http::status>(response.status);
  const beast::string_view reason = http::obsolete_reason(status);
  std::string head;
  head.reserve(kHeadBytes);
  absl::StrAppend(&head, "HTTP/1.1 ", response.status, " ",
                  absl::string_view(reason.data(), reason.size()),
                  "\r\nServer: ", context_.server_name, "\r\nDate: ", Date(),
                  "\r\nCache-Control: ", response.cache_control, "\r\n");
  if (!response.content_type.empty() && HasBody(response.status)) {
    absl::StrAppend(&head, "Content-Type: ", response.content_type, "\r\n");
  }
  if (HasBody(response.status) && !response.stream) {
    absl::StrAppend(&head, "Content-Length: ", response.body.size(), "\r\n");
  }
  for (const auto& [name, value] : response.headers) {
    absl::StrAppend(&head, name, ": ", value, "\r\n");
  }
  if (!keep_alive) {
    absl::StrAppend(&head, "Connection: close\r\n");
  } else if (parser.get().version() < 11) {
    absl::StrAppend(&head, "Connection: keep-alive\r\n");
  }
  absl::StrAppend(&head, "\r\n");
  return head;
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

asio::awaitable<void> HttpConnection::Linger() {
  error_code error;
  if (socket_.tls() == nullptr) socket_.tcp().shutdown(tcp::socket::shutdown_send, error);
  SetDeadline(kLingerTime);
  for (std::size_t total = 0; !error && total < kLingerBytesMax;) {
    buffer_.clear();
    total += co_await socket_.async_read_some(buffer_.prepare(kReadBytes),
                                              asio::redirect_error(asio::use_awaitable, error));
  }
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

std::string HttpConnection::RequestId(const Parser& parser) {
  const std::string given = GivenRequestId(parser.get());
  if (!given.empty()) return given;
  return absl::StrCat(absl::Hex(context_.random.Next(), absl::kZeroPad16));
}

}  // namespace plimsoll::internal
