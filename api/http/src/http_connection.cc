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

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace plimsoll::internal {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using beast::error_code;

constexpr std::size_t kReadBytes = 2048;
constexpr std::size_t kRequestIdBytesMax = 128;
// How long, and for how many bytes, a refused client is listened to, so that the answer reaches it
// before the reset that unread data would cause.
constexpr absl::Duration kLingerTime = absl::Seconds(1);
constexpr std::size_t kLingerBytesMax = std::size_t{4} << 20;
// What the system may hold of a stream, so that a slow reader is noticed and costs little.
constexpr int kStreamBufferBytes = 64 << 10;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

std::string ToStdString(beast::string_view text) { return {text.data(), text.size()}; }

Problem MakeProblem(int status, std::string code, std::string detail) {
  Problem problem;
  problem.status = status;
  problem.code = std::move(code);
  problem.detail = std::move(detail);
  return problem;
}

// Faults of the head that are found before the body is read.
template <typename Message>
std::optional<Problem> CheckHead(const Message& message) {
  const auto hosts = message.equal_range(http::field::host);
  const auto host_count = std::distance(hosts.first, hosts.second);
  if (host_count > 1 || (message.version() >= 11 && host_count == 0)) {
    return MakeProblem(400, "INVALID_ARGUMENT", "exactly one Host header is needed");
  }
  if (message.count(http::field::transfer_encoding) > 0) {
    return MakeProblem(411, "LENGTH_REQUIRED",
                       "send the body with Content-Length, not with Transfer-Encoding");
  }
  const beast::string_view target = message.target();
  if (!target.starts_with('/') && target != "*" && !target.starts_with("http://") &&
      !target.starts_with("https://")) {
    return MakeProblem(400, "INVALID_ARGUMENT", "the address must begin with '/'");
  }
  // The parser lets lengths that agree pass.
  const beast::string_view length = message[http::field::content_length];
  if (message.count(http::field::content_length) > 1 ||
      length.find_first_not_of("0123456789") != beast::string_view::npos) {
    return MakeProblem(400, "INVALID_ARGUMENT", "Content-Length must be one number");
  }
  if (message.count(http::field::authorization) > 1) {
    return MakeProblem(400, "INVALID_ARGUMENT", "more than one Authorization header");
  }
  const beast::string_view expect = message[http::field::expect];
  if (!expect.empty() && !beast::iequals(expect, "100-continue")) {
    return MakeProblem(417, "INVALID_ARGUMENT", "only 'Expect: 100-continue' is understood");
  }
  return std::nullopt;
}

// Sees header lines that go on in the next line. The parser joins them; others may not, and what
// two servers read differently can be smuggled past one of them.
class FoldDetector {
 public:
  // Of the head, piece by piece.
  bool Finds(std::string_view piece) {
    for (const char c : piece) {
      if (after_line_ && (c == ' ' || c == '\t')) return true;
      after_line_ = c == '\n';
    }
    return false;
  }

 private:
  bool after_line_ = false;
};

// "http://host/path", which proxies send, means "/path".
std::string_view OriginForm(std::string_view target) {
  const std::size_t scheme = target.starts_with('/') ? std::string_view::npos : target.find("://");
  if (scheme == std::string_view::npos) return target;
  const std::size_t path = target.find('/', scheme + 3);
  return path == std::string_view::npos ? "/" : target.substr(path);
}

// "host" of "http://host/path"; empty without one.
std::string_view Authority(std::string_view target) {
  const std::size_t scheme = target.starts_with('/') ? std::string_view::npos : target.find("://");
  if (scheme == std::string_view::npos) return "";
  const std::string_view rest = target.substr(scheme + 3);
  return rest.substr(0, rest.find_first_of("/?"));
}

template <typename Message>
void FillHead(const Message& message, HttpRequest& request) {
  request.method = ToStdString(message.method_string());
  const std::string target = ToStdString(message.target());
  const std::string_view address = OriginForm(target);
  const std::string_view authority = Authority(target);
  const std::size_t question = address.find('?');
  request.path = std::string(address.substr(0, question));
  if (question != std::string_view::npos) request.query = std::string(address.substr(question + 1));
  // RFC 9112, 3.2.2: it counts more than the header.
  request.host =
      authority.empty() ? ToStdString(message[http::field::host]) : std::string(authority);
  request.origin = ToStdString(message[http::field::origin]);
  request.content_type = ToStdString(message[http::field::content_type]);
  request.if_none_match = ToStdString(message[http::field::if_none_match]);
  request.last_event_id = ToStdString(message["Last-Event-ID"]);
  request.authorization = ToStdString(message[http::field::authorization]);
  request.if_match = ToStdString(message[http::field::if_match]);
  request.has_length = message.count(http::field::content_length) > 0;
}

// Unknown methods share a label: it must not be the client's to choose.
std::string MethodLabel(const std::string& method) {
  constexpr std::array<std::string_view, 7> kKnown = {"GET",   "HEAD",   "POST",   "PUT",
                                                      "PATCH", "DELETE", "OPTIONS"};
  const bool known = std::find(kKnown.begin(), kKnown.end(), method) != kKnown.end();
  return known ? method : "OTHER";
}

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

bool HasBody(int status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace

HttpConnection::HttpConnection(tcp::socket socket, ConnectionContext& context,
                               std::function<void(HttpConnection&)> closed)
    : context_(context),
      closed_(std::move(closed)),
      remote_address_(RemoteAddress(socket)),
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
  co_await Write(parser, response, keep_alive);
  context_.metrics.CountRequest(MethodLabel(request.method), route_, response.status,
                                context_.clock.Now() - started - held_);
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
  error_code ignored;
  request.local_address = socket_.tcp().local_endpoint(ignored).address().to_string();
  request.remote_address = remote_address_;
  request.certificate_names = certificate_names_;
  co_return std::nullopt;
}

Problem HttpConnection::ReadFault(const error_code& error, const Parser& parser) {
  const ListenerLimits& limits = context_.limits;
  const bool is_http = error.category() == make_error_code(http::error::end_of_stream).category();
  if (!expired_ &&
      (!is_http || error == http::error::end_of_stream || error == http::error::partial_message)) {
    gone_ = true;
    return {};
  }
  if (expired_) {
    return MakeProblem(408, "REQUEST_TIMEOUT",
                       absl::StrFormat("the request must arrive whole within %s",
                                       absl::FormatDuration(limits.request_time_max)));
  }
  if (error == http::error::body_limit) {
    return MakeProblem(413, "BODY_TOO_LARGE",
                       absl::StrFormat("a body may have at most %d bytes", limits.body_bytes_max));
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    const std::string detail = absl::StrFormat(
        "request line and headers may have at most %d bytes together", limits.header_bytes_max);
    const bool line_ended = !parser.get().target().empty();
    return line_ended ? MakeProblem(431, "HEADER_TOO_LARGE", detail)
                      : MakeProblem(414, "URI_TOO_LONG", detail);
  }
  return MakeProblem(400, "INVALID_ARGUMENT",
                     absl::StrCat("this is not valid HTTP/1.1: ", error.message()));
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
  std::string head =
      absl::StrCat("HTTP/1.1 ", response.status, " ", ToStdString(http::obsolete_reason(status)),
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
  return head + "\r\n";
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
  const std::string given = ToStdString(parser.get()["X-Request-Id"]);
  const bool sane =
      !given.empty() && given.size() <= kRequestIdBytesMax &&
      std::all_of(given.begin(), given.end(), [](char c) { return c > ' ' && c < 0x7f; });
  return sane ? given : absl::StrCat(absl::Hex(context_.random.Next(), absl::kZeroPad16));
}

}  // namespace plimsoll::internal
