#pragma once

// <utility> comes first: <boost/asio/awaitable.hpp> 1.74 uses std::exchange without including it.
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/http/src/authenticator.h"
#include "api/http/src/http_message.h"
#include "api/http/src/http_socket.h"
#include "api/http/src/plane_metrics.h"
#include "api/http/src/request_head.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/random.h"
#include "plimsoll/http/server.h"

namespace plimsoll::internal {

// What all connections of a listener share.
struct ConnectionContext {
  ListenerLimits limits;
  std::string server_name;  // for the header Server
  HttpService& service;
  PlaneMetrics& metrics;
  const Clock& clock;
  Authenticator authenticator;
  std::shared_ptr<TlsContext> tls;  // of connections to come; null: not encrypted
  Random random;                    // for request ids
  // The header Date, made once a second.
  std::int64_t date_second = 0;
  std::string date;
};

// One client: reads a request, has it handled, writes the answer, until one side has had enough.
// A request that breaks a limit is answered and the connection then closed. Requests that arrive
// ahead of their turn wait, few of them here and the others in the socket. Confined to the
// listener's thread.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  // `context` must outlive the loop. `closed` is called when the connection has ended.
  HttpConnection(boost::asio::ip::tcp::socket socket, ConnectionContext& context,
                 std::function<void(HttpConnection&)> closed);

  void Start();
  // Cuts off what has taken too long. Called every now and then.
  void CheckDeadline(Instant now);
  // Closes at once if no request is under way, else after its answer.
  void Drain();
  void Abort();
  const std::string& remote_address() const { return remote_address_; }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  // What is written of an answer, in this order.
  struct Parts {
    std::string_view head;
    std::string_view body;

    std::size_t size() const { return head.size() + body.size(); }
    // What is left when so much has been written.
    std::array<boost::asio::const_buffer, 2> From(std::size_t written) const;
  };

  boost::asio::awaitable<void> Run();
  boost::asio::awaitable<bool> Handshake();
  boost::asio::awaitable<void> Serve();
  boost::asio::awaitable<bool> AwaitFirstByte();
  boost::asio::awaitable<boost::beast::error_code> ReadHead(Parser& parser, FoldDetector& folds);
  boost::asio::awaitable<boost::beast::error_code> ReadBody(Parser& parser);
  boost::asio::awaitable<void> AwaitReply(const ExchangePtr& exchange);
  boost::asio::awaitable<void> AwaitPeer();
  boost::asio::awaitable<void> WriteRest(const Parts& parts, std::size_t written);
  boost::asio::awaitable<void> WriteStream(BodyStream& stream);
  boost::asio::awaitable<void> WritePieces(const std::vector<BodyStream::Piece>& pieces);
  boost::asio::awaitable<void> Linger();
  boost::asio::awaitable<void> Close();

  // These do what can be done without waiting.
  void ReadNow(std::size_t most, boost::beast::error_code& error);
  boost::beast::error_code ParseHead(Parser& parser, FoldDetector& folds);
  std::optional<Problem> TakeHead(const Parser& parser, HttpRequest& request,
                                  const boost::beast::error_code& error);
  boost::beast::error_code ParseBody(Parser& parser);
  void TakeBody(Parser& parser, HttpRequest& request);
  ExchangePtr Handle(HttpRequest& request);
  std::size_t WriteNow(const Parts& parts);

  void SetDeadline(absl::Duration time);
  void Wake();
  void WatchPeer();
  void OnReadable();
  // What to tell the client; nothing worth telling, and gone_, if it went away.
  Problem ReadFault(const boost::beast::error_code& error, const Parser& parser);
  std::string HeadOfResponse(const Parser& parser, const std::string& request_id,
                             const HttpResponse& response, bool keep_alive);
  std::string RequestId(const Parser& parser);
  const std::string& Date();

  ConnectionContext& context_;
  std::function<void(HttpConnection&)> closed_;
  const std::string remote_address_;
  const std::string local_address_;
  HttpSocket socket_;
  boost::asio::steady_timer signal_;  // never fires: cancelled to wake the coroutine
  boost::beast::flat_buffer buffer_;
  Instant deadline_ = kInfiniteFuture;
  bool expired_ = false;        // the deadline passed
  bool idle_ = false;           // between two requests
  bool draining_ = false;       // no further request
  bool gone_ = false;           // the peer closed, or we were told to abort
  bool awaiting_peer_ = false;  // the coroutine waits for what the peer does
  bool watching_ = false;       // likewise while a stream is written, beside the coroutine
  bool blind_ = false;          // what the peer sent hides whether it closed
  bool refused_ = false;        // what the client sends now is not read any more
  std::vector<std::string> certificate_names_;
  // Of the request under way, for its metrics.
  const char* route_ = kNoRoute;
  absl::Duration held_;
};

}  // namespace plimsoll::internal
