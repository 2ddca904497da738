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
constexpr std::size_t kBodyReadBytes = 16384;
// How long, and for how many bytes, a refused client is listened to, so that the answer reaches it
// before the reset that unread data would cause.
constexpr absl::Duration kLingerTime = absl::Seconds(1);
constexpr std::size_t kLingerBytesMax = std::size_t{4} << 20;
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
    if (ready) co_await Serve();
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

// One request after the other, in one frame, which is large: to allocate it for each costs as much
// as handling it. What has arrived whole is read, handled and answered without waiting in between:
// each wait costs as much as all of that.
asio::awaitable<void> HttpConnection::Serve() {
  for (bool more = true; more;) {
    const bool begun = co_await AwaitFirstByte();
    if (!begun) co_return;
    Parser parser;
    parser.header_limit(context_.limits.header_bytes_max);
    parser.body_limit(context_.limits.body_bytes_max);
    HttpRequest request;
    SetDeadline(context_.limits.request_time_max);
    FoldDetector folds;
    error_code error = ParseHead(parser, folds);
    if (!error && !parser.is_header_done()) error = co_await ReadHead(parser, folds);
    std::optional<Problem> fault = TakeHead(parser, request, error);
    if (!fault) {
      error = ParseBody(parser);
      if (!error && !parser.is_done()) error = co_await ReadBody(parser);
      if (error || expired_) fault = ReadFault(error, parser);
    }
    deadline_ = kInfiniteFuture;
    if (gone_) co_return;

    const Instant started = context_.clock.Now();
    route_ = kNoRoute;
    held_ = absl::ZeroDuration();
    refused_ = fault.has_value();
    HttpResponse response;
    if (fault) {
      response = ProblemResponse(*std::move(fault));
    } else {
      TakeBody(parser, request);
      const ExchangePtr exchange = Handle(request);
      if (!exchange->replied()) co_await AwaitReply(exchange);
      if (exchange->replied()) response = exchange->TakeResponse();
    }
    std::optional<StreamEnd> stream_end;
    if (response.stream) stream_end.emplace(*response.stream);
    if (gone_) co_return;
    RenderProblem(request, response);

    more = !refused_ && !draining_ && !response.stream && parser.get().keep_alive();
    // Before it is sent: whoever has an answer finds it counted, and slow readers are not our time.
    context_.metrics.CountRequest(MethodLabel(request.method), route_, response.status,
                                  context_.clock.Now() - started - held_);
    const std::string head_text = HeadOfResponse(parser, request.request_id, response, more);
    const bool head = parser.get().method() == http::verb::head;
    const Parts parts = {head_text,
                         head || !HasBody(response.status) ? std::string_view() : response.body};
    const std::size_t written = WriteNow(parts);
    if (!gone_ && written < parts.size()) co_await WriteRest(parts, written);
    if (response.stream && !head && !gone_) {
      co_await WriteStream(*response.stream);
      stream_end->slow = gone_ && expired_;
    }
    more = more && !gone_;
  }
}

asio::awaitable<bool> HttpConnection::AwaitFirstByte() {
  if (buffer_.size() > 0) co_return true;
  if (draining_) co_return false;
  // Thousands of connections wait here.
  if (buffer_.capacity() > kReadBytes) buffer_.shrink_to_fit();
  idle_ = true;
  SetDeadline(context_.limits.idle_time_max);
  error_code error;
  while (!error && buffer_.size() == 0) {
    const std::size_t count = co_await socket_.async_read_some(
        buffer_.prepare(kReadBytes), asio::redirect_error(asio::use_awaitable, error));
    buffer_.commit(count);
  }
  idle_ = false;
  co_return !error;
}

// What lies in the socket, if anything does.
void HttpConnection::ReadNow(std::size_t most, error_code& error) {
  const std::size_t count = socket_.tcp().read_some(buffer_.prepare(most), error);
  buffer_.commit(count);
  if (error == asio::error::would_block || error == asio::error::try_again) error = {};
}

// As much of the head as has arrived.
error_code HttpConnection::ParseHead(Parser& parser, FoldDetector& folds) {
  error_code error;
  while (!error && !parser.is_header_done()) {
    const std::size_t used = parser.put(buffer_.data(), error);
    if (folds.Finds({static_cast<const char*>(buffer_.data().data()), used})) {
      return http::error::bad_obs_fold;
    }
    buffer_.consume(used);
  }
  return error == http::error::need_more ? error_code() : error;
}

asio::awaitable<error_code> HttpConnection::ReadHead(Parser& parser, FoldDetector& folds) {
  error_code error;
  while (!error && !parser.is_header_done()) {
    const std::size_t count = co_await socket_.async_read_some(
        buffer_.prepare(kReadBytes), asio::redirect_error(asio::use_awaitable, error));
    buffer_.commit(count);
    if (!error) error = ParseHead(parser, folds);
  }
  co_return error;
}

// The head has been read, or `error` has ended it. What is wrong with it.
std::optional<Problem> HttpConnection::TakeHead(const Parser& parser, HttpRequest& request,
                                                const error_code& error) {
  FillHead(parser.get(), request);
  request.request_id = RequestId(parser);
  if (error) return ReadFault(error, parser);
  return CheckHead(parser.get());
}

// As much of the body as has arrived.
error_code HttpConnection::ParseBody(Parser& parser) {
  parser.eager(true);
  error_code error;
  for (bool more = true; more && !error && !parser.is_done() && buffer_.size() > 0;) {
    const std::size_t used = parser.put(buffer_.data(), error);
    buffer_.consume(used);
    more = used > 0;
  }
  return error == http::error::need_more ? error_code() : error;
}

asio::awaitable<error_code> HttpConnection::ReadBody(Parser& parser) {
  error_code error;
  if (!parser.get()[http::field::expect].empty()) {
    co_await asio::async_write(socket_, asio::buffer(kContinue.data(), kContinue.size()),
                               asio::redirect_error(asio::use_awaitable, error));
  } else if (socket_.tls() == nullptr) {
    // The rest of a long request mostly lies there already.
    ReadNow(kBodyReadBytes, error);
    if (!error) error = ParseBody(parser);
  }
  if (error || parser.is_done()) co_return error;
  co_await http::async_read(socket_, buffer_, parser,
                            asio::redirect_error(asio::use_awaitable, error));
  co_return error;
}

void HttpConnection::TakeBody(Parser& parser, HttpRequest& request) {
  request.body = std::move(parser.get().body());
  request.local_address = local_address_;
  request.remote_address = remote_address_;
  request.certificate_names = certificate_names_;
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

ExchangePtr HttpConnection::Handle(HttpRequest& request) {
  auto exchange = std::make_shared<Exchange>();
  try {
    context_.authenticator.Identify(request);
    route_ = context_.service.Handle(request, exchange);
  } catch (const std::exception&) {
    exchange->Reply(ProblemResponse(
        500, "INTERNAL", absl::StrCat("the server failed; request id ", request.request_id)));
  }
  return exchange;
}

asio::awaitable<void> HttpConnection::AwaitReply(const ExchangePtr& exchange) {
  const Instant begin = context_.clock.Now();
  exchange->OnReply([this] { Wake(); });
  blind_ = exchange->held() && buffer_.size() > 0;
  while (!exchange->replied() && !gone_) {
    if (exchange->held() && !blind_) {
      co_await AwaitPeer();
    } else {
      error_code ignored;
      co_await signal_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
  }
  blind_ = false;
  if (exchange->held()) held_ = context_.clock.Now() - begin;
  exchange->Abandon();
}

// Until the peer closes or sends, or until Wake(). Waiting by reading costs the system nothing
// while nothing comes, and the next request nothing at all; only a TLS stream must not be left in
// the middle of a read.
asio::awaitable<void> HttpConnection::AwaitPeer() {
  error_code error;
  awaiting_peer_ = true;
  if (socket_.tls() == nullptr) {
    const std::size_t count = co_await socket_.tcp().async_read_some(
        buffer_.prepare(kReadBytes), asio::redirect_error(asio::use_awaitable, error));
    buffer_.commit(count);
    blind_ = count > 0;
    if (error && error != asio::error::operation_aborted) gone_ = true;
  } else {
    co_await socket_.tcp().async_wait(tcp::socket::wait_read,
                                      asio::redirect_error(asio::use_awaitable, error));
    if (!error) OnReadable();
  }
  awaiting_peer_ = false;
}

void HttpConnection::Wake() {
  error_code ignored;
  if (awaiting_peer_) socket_.tcp().cancel(ignored);
  signal_.cancel();
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

std::string HttpConnection::RequestId(const Parser& parser) {
  const std::string given = GivenRequestId(parser.get());
  if (!given.empty()) return given;
  // Fifteen digits are what std::string keeps without memory of its own.
  return absl::StrCat(absl::Hex(context_.random.Next() >> 4, absl::kZeroPad15));
}

}  // namespace plimsoll::internal
