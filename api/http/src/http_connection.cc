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
  const beast::string_view expect = message[http::field::expect];
  if (!expect.empty() && !beast::iequals(expect, "100-continue")) {
    return MakeProblem(417, "INVALID_ARGUMENT", "only 'Expect: 100-continue' is understood");
  }
  return std::nullopt;
}

// "http://host/path", which proxies send, means "/path".
std::string_view OriginForm(std::string_view target) {
  const std::size_t scheme = target.starts_with('/') ? std::string_view::npos : target.find("://");
  if (scheme == std::string_view::npos) return target;
  const std::size_t path = target.find('/', scheme + 3);
  return path == std::string_view::npos ? "/" : target.substr(path);
}

template <typename Message>
void FillHead(const Message& message, HttpRequest& request) {
  request.method = ToStdString(message.method_string());
  const std::string target = ToStdString(message.target());
  const std::string_view address = OriginForm(target);
  const std::size_t question = address.find('?');
  request.path = std::string(address.substr(0, question));
  if (question != std::string_view::npos) request.query = std::string(address.substr(question + 1));
  request.host = ToStdString(message[http::field::host]);
  request.origin = ToStdString(message[http::field::origin]);
  request.content_type = ToStdString(message[http::field::content_type]);
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

bool HasBody(int status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace

HttpConnection::HttpConnection(tcp::socket socket, ConnectionContext& context,
                               std::function<void(HttpConnection&)> closed)
    : context_(context),
      closed_(std::move(closed)),
      socket_(std::move(socket)),
      signal_(socket_.get_executor(), asio::steady_timer::time_point::max()) {}

void HttpConnection::Start() {
  error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  socket_.non_blocking(true, ignored);
  asio::co_spawn(
      socket_.get_executor(), [self = shared_from_this()] { return self->Run(); }, asio::detached);
}

void HttpConnection::CheckDeadline(Instant now) {
  if (now < deadline_) return;
  deadline_ = kInfiniteFuture;
  expired_ = true;
  error_code ignored;
  socket_.cancel(ignored);
}

void HttpConnection::Drain() {
  draining_ = true;
  if (!idle_) return;
  error_code ignored;
  socket_.cancel(ignored);
}

void HttpConnection::Abort() {
  gone_ = true;
  error_code ignored;
  socket_.close(ignored);
  signal_.cancel();
}

void HttpConnection::SetDeadline(absl::Duration time) {
  expired_ = false;
  deadline_ = context_.clock.Now() + time;
}

asio::awaitable<void> HttpConnection::Run() {
  try {
    while (co_await ServeOne()) {
    }
    if (refused_) co_await Linger();
  } catch (const std::exception&) {
    // Out of memory, or worse: this client is given up, the others are not.
  }
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
  closed_(*this);
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
  if (gone_) co_return false;
  RenderProblem(request, response);
  response.headers.emplace_back("X-Request-Id", request.request_id);

  const bool keep_alive = !refused_ && !draining_ && parser.get().keep_alive();
  co_await Write(parser, response, keep_alive);
  context_.metrics.CountRequest(MethodLabel(request.method), route_, response.status,
                                context_.clock.Now() - started - held_);
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

asio::awaitable<std::optional<Problem>> HttpConnection::Read(Parser& parser, HttpRequest& request) {
  parser.header_limit(context_.limits.header_bytes_max);
  parser.body_limit(context_.limits.body_bytes_max);
  error_code error;
  co_await http::async_read_header(socket_, buffer_, parser,
                                   asio::redirect_error(asio::use_awaitable, error));
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
  request.local_address = socket_.local_endpoint(ignored).address().to_string();
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

asio::awaitable<HttpResponse> HttpConnection::Answer(const HttpRequest& request) {
  const auto exchange = std::make_shared<Exchange>();
  try {
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
  if (watching_) socket_.cancel(ignored);
  if (exchange->held()) held_ = context_.clock.Now() - begin;
  exchange->Abandon();
}

void HttpConnection::WatchPeer() {
  watching_ = true;
  socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](const error_code& error) {
    self->watching_ = false;
    if (!error) self->OnReadable();
  });
}

// Either the peer closed, or it has sent its next request already; then a later close is noticed
// only when the answer is written.
void HttpConnection::OnReadable() {
  char byte = 0;
  error_code error;
  socket_.receive(asio::buffer(&byte, 1), MSG_PEEK, error);
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
                   "\r\nCache-Control: no-store\r\n");
  if (!response.content_type.empty() && HasBody(response.status)) {
    absl::StrAppend(&head, "Content-Type: ", response.content_type, "\r\n");
  }
  if (HasBody(response.status)) {
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

asio::awaitable<void> HttpConnection::Linger() {
  error_code error;
  socket_.shutdown(tcp::socket::shutdown_send, error);
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
