#include <fcntl.h>
#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/src/address.h"
#include "agent/src/transport.h"
#include "plimsoll/core/check.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/wire/codec.h"

namespace plimsoll::internal {
namespace {

constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 20;
constexpr std::size_t kHeaderLineBytesMax = 1024;
constexpr int kStatusOk = 200;
constexpr int kStatusRedirection = 300;
constexpr int kStatusError = 400;
constexpr int kStatusUnauthenticated = 401;
constexpr int kStatusForbidden = 403;
constexpr int kStatusMisdirected = 421;
constexpr int kStatusBadRequest = 400;

// What may come back in one exchange, and which of it was exceeded.
struct Bounds {
  Instant deadline;
  bool too_late = false;
  bool too_large = false;
  bool line_too_long = false;
};

// A connection that stops reading where the bounds are. The library has none for the time of a
// whole answer, for the length of lines, and for what it keeps; and it matches lines by regular
// expressions whose recursion overflows the stack on long ones. Confined to the agent's thread.
class BoundedStream final : public httplib::Stream {
 public:
  // Both must outlive the stream, and `connection` is not closed by it. With `tls`, which may be
  // null, the connection must not block: a record of which only a part arrives would.
  BoundedStream(int connection, SSL* tls, Bounds& bounds)
      : connection_(connection), tls_(tls), bounds_(bounds) {}

  using httplib::Stream::write;

  bool is_readable() const override {
    return next_ < filled_ || (tls_ != nullptr && SSL_pending(tls_) > 0) || Wait(POLLIN);
  }
  bool is_writable() const override { return Wait(POLLOUT); }

  ssize_t read(char* to, std::size_t size) override {
    if (next_ == filled_) {
      const ssize_t got = Fill();
      if (got <= 0) return got;
    }
    const std::size_t count = std::min(size, filled_ - next_);
    std::copy_n(buffer_.data() + next_, count, to);
    next_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    if (tls_ != nullptr) {
      return InTls([&](std::size_t& done) { return SSL_write_ex(tls_, from, size, &done); });
    }
    if (!Wait(POLLOUT)) return -1;
    return send(connection_, from, size, MSG_NOSIGNAL);
  }

  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  socket_t socket() const override { return connection_; }

 private:
  bool Wait(short event) const {
    const absl::Duration left = bounds_.deadline - RealClock().Now();
    const auto timeout_ms = std::clamp<std::int64_t>(absl::ToInt64Milliseconds(left) + 1, 0,
                                                     std::numeric_limits<int>::max());
    pollfd waiting{connection_, event, 0};
    const bool ready =
        left > absl::ZeroDuration() && poll(&waiting, 1, static_cast<int>(timeout_ms)) > 0;
    bounds_.too_late = !ready;
    return ready;
  }

  // Calls `step` until it is done, waiting for what it waits for. Zero at the end of the stream.
  template <typename Step>
  ssize_t InTls(Step step) {
    for (;;) {
      ERR_clear_error();
      std::size_t done = 0;
      const int result = step(done);
      if (result == 1) return static_cast<ssize_t>(done);
      const int error = SSL_get_error(tls_, result);
      if (error == SSL_ERROR_ZERO_RETURN) return 0;
      const bool waits = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
      if (!waits || !Wait(error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT)) return -1;
    }
  }

  ssize_t Receive() {
    if (tls_ != nullptr) {
      return InTls([this](std::size_t& done) {
        return SSL_read_ex(tls_, buffer_.data(), buffer_.size(), &done);
      });
    }
    if (!Wait(POLLIN)) return -1;
    return recv(connection_, buffer_.data(), buffer_.size(), 0);
  }

  ssize_t Fill() {
    const ssize_t got = Receive();
    if (got <= 0) return got;
    next_ = 0;
    filled_ = static_cast<std::size_t>(got);
    total_ += filled_;
    bounds_.too_large = total_ > kAnswerBytesMax;
    bounds_.line_too_long = HasLongHeaderLine({buffer_.data(), filled_});
    return bounds_.too_large || bounds_.line_too_long ? -1 : got;
  }

  // Looks at bytes until the empty line that ends the header.
  bool HasLongHeaderLine(std::string_view bytes) {
    for (const char c : bytes) {
      if (header_ended_) return false;
      if (c == '\r') continue;
      if (c != '\n') {
        if (++line_bytes_ > kHeaderLineBytesMax) return true;
        continue;
      }
      header_ended_ = line_bytes_ == 0;
      line_bytes_ = 0;
    }
    return false;
  }

  const int connection_;
  SSL* const tls_;
  Bounds& bounds_;
  std::array<char, 4096> buffer_{};
  std::size_t next_ = 0;
  std::size_t filled_ = 0;
  std::size_t total_ = 0;
  std::size_t line_bytes_ = 0;
  bool header_ended_ = false;
};

void DoNotBlock(int connection) {
  fcntl(connection, F_SETFL, fcntl(connection, F_GETFL) | O_NONBLOCK);
}

// A client whose answers are bounded. Confined to the agent's thread, but stop() is thread-safe.
class BoundedClient {
 public:
  virtual ~BoundedClient() = default;

  virtual httplib::ClientImpl& client() = 0;
  // For the next send().
  virtual void Bound(Instant deadline) { bounds_ = Bounds{deadline}; }
  const Bounds& bounds() const { return bounds_; }

 protected:
  Bounds& mutable_bounds() { return bounds_; }

 private:
  Bounds bounds_;
};

class PlainClient final : public BoundedClient, private httplib::ClientImpl {
 public:
  using httplib::ClientImpl::ClientImpl;

  httplib::ClientImpl& client() override { return *this; }

 private:
  bool process_socket(const Socket& socket,
                      std::function<bool(httplib::Stream& stream)> callback) override {
    BoundedStream stream(socket.sock, nullptr, mutable_bounds());
    return callback(stream);
  }
};

class TlsClient final : public BoundedClient, private httplib::SSLClient {
 public:
  TlsClient(const Address& address, const TransportCredentials& credentials)
      : SSLClient(address.host, address.port, credentials.client_cert_file,
                  credentials.client_key_file) {
    if (!credentials.ca_file.empty()) set_ca_cert_path(credentials.ca_file);
    if (ssl_context() != nullptr) SSL_CTX_set_min_proto_version(ssl_context(), TLS1_2_VERSION);
  }

  httplib::ClientImpl& client() override { return *this; }

  void Bound(Instant deadline) override {
    BoundedClient::Bound(deadline);
    // stop() may come from another thread, and frees what is looked at here.
    socket_mutex_.lock();
    const bool closed = socket_.is_open() && PeerHasClosed();
    socket_mutex_.unlock();
    if (closed) stop();
  }

 private:
  // The library takes a last message that says goodbye for a sign of life.
  bool PeerHasClosed() const {
    if (socket_.ssl == nullptr) return false;
    DoNotBlock(socket_.sock);
    char byte = 0;
    ERR_clear_error();
    const int result = SSL_peek(socket_.ssl, &byte, 1);
    return result <= 0 && SSL_get_error(socket_.ssl, result) != SSL_ERROR_WANT_READ;
  }

  bool process_socket(const Socket& socket,
                      std::function<bool(httplib::Stream& stream)> callback) override {
    DoNotBlock(socket.sock);
    BoundedStream stream(socket.sock, socket.ssl, mutable_bounds());
    return callback(stream);
  }
};

std::unique_ptr<BoundedClient> MakeClient(const Address& address,
                                          const TransportCredentials& credentials) {
  if (address.tls) return std::make_unique<TlsClient>(address, credentials);
  return std::make_unique<PlainClient>(address.host, address.port);
}

std::string SessionsPath(std::optional<int> shard) {
  if (!shard.has_value()) return "/v1/agent/sessions";
  return absl::StrCat("/v1/agent/shards/", *shard, "/sessions");
}

class HttpTransport final : public Transport {
 public:
  HttpTransport(const std::vector<std::string>& addresses, absl::Duration connect_timeout,
                const TransportCredentials& credentials, std::optional<int> shard);

  Answer Exchange(std::size_t controller, const RegisterRequest& message,
                  absl::Duration timeout) override {
    return Exchange(controller, "POST", sessions_path_, Encode(message), timeout,
                    [](const std::string& body) { return ToAnswer(DecodeRegisterAnswer(body)); });
  }
  Answer Exchange(std::size_t controller, const SyncRequest& message,
                  absl::Duration timeout) override {
    return Exchange(controller, "POST", SessionPath(message.session) + "/sync", Encode(message),
                    timeout,
                    [](const std::string& body) { return ToAnswer(DecodeSyncAnswer(body)); });
  }
  Answer Exchange(std::size_t controller, const ReleaseRequest& message,
                  absl::Duration timeout) override {
    return Exchange(controller, "DELETE", SessionPath(message.session), "", timeout,
                    [](const std::string&) { return Answer(ReleaseAnswer{}); });
  }

  void Interrupt() override;
  std::optional<std::size_t> leader() const override { return leader_; }
  std::optional<int> shards() const override { return shards_; }

 private:
  struct Peer {
    std::string address;
    std::unique_ptr<BoundedClient> client;
  };
  using Decoder = Answer (*)(const std::string& body);

  template <typename T>
  static Answer ToAnswer(absl::StatusOr<T> decoded) {
    if (decoded.ok()) return *std::move(decoded);
    return NoAnswer{decoded.status()};
  }

  Answer Exchange(std::size_t controller, const char* method, const std::string& path,
                  std::string body, absl::Duration timeout, Decoder decode);
  std::string SessionPath(const SessionId& session) const {
    return absl::StrCat(sessions_path_, "/", session.value);
  }
  Answer Send(Peer& peer, httplib::Request& request, absl::Duration timeout, Decoder decode);
  static Answer Understand(const Peer& peer, int status, const std::string& body, Decoder decode);
  std::optional<std::size_t> FindPeer(const std::string& address) const;
  static NoAnswer Explain(const Peer& peer, httplib::Error error);
  static NoAnswer Failed(const Peer& peer, absl::StatusCode code, const char* what,
                         const std::string& detail);

  std::vector<Peer> peers_;
  const std::string token_;
  const std::string sessions_path_;
  std::optional<std::size_t> leader_;
  std::optional<int> shards_;
  // The next two are shared by Interrupt() and Exchange().
  std::atomic<bool> interrupted_{false};
  std::atomic<BoundedClient*> sending_{nullptr};  // connected, and busy with an exchange
};

HttpTransport::HttpTransport(const std::vector<std::string>& addresses,
                             absl::Duration connect_timeout,
                             const TransportCredentials& credentials, std::optional<int> shard)
    : token_(credentials.token), sessions_path_(SessionsPath(shard)) {
  for (const std::string& text : addresses) {
    const std::optional<Address> address = ParseAddress(text);
    PLIMSOLL_CHECK(address.has_value(), "the addresses of controllers must be valid");
    std::unique_ptr<BoundedClient> bounded = MakeClient(*address, credentials);
    httplib::ClientImpl& client = bounded->client();
    client.set_keep_alive(true);
    // Without it every small message waits for the acknowledgement of the one before.
    client.set_tcp_nodelay(true);
    client.set_connection_timeout(absl::ToChronoMicroseconds(connect_timeout));
    client.set_decompress(false);
    // Also what bounds the TLS handshake.
    client.set_read_timeout(absl::ToChronoMicroseconds(connect_timeout));
    peers_.push_back({text, std::move(bounded)});
  }
}

// The flag comes first: an exchange that has not written its request yet looks at the flag when it
// does, and one that has can be stopped at its connection.
void HttpTransport::Interrupt() {
  interrupted_.store(true);
  if (BoundedClient* client = sending_.load()) client->client().stop();
}

Answer HttpTransport::Exchange(std::size_t controller, const char* method, const std::string& path,
                               std::string body, absl::Duration timeout, Decoder decode) {
  PLIMSOLL_CHECK(controller < peers_.size(), "there is no controller of this number");
  Peer& peer = peers_[controller];
  leader_.reset();
  shards_.reset();
  httplib::Request request;
  request.method = method;
  request.path = path;
  request.set_header("Content-Type", "application/json");
  request.set_header("Accept-Encoding", "identity");
  if (!token_.empty()) request.set_header("Authorization", absl::StrCat("Bearer ", token_));
  // A provider, not a body: it is called when the connection stands.
  request.content_length_ = body.size();
  request.content_provider_ = [this, &peer, &body](std::size_t offset, std::size_t length,
                                                   httplib::DataSink& sink) {
    sending_.store(peer.client.get());
    return !interrupted_.load() && sink.write(body.data() + offset, length);
  };

  // A message without a body can be stopped from the start.
  if (body.empty()) sending_.store(peer.client.get());

  Answer answer = NoAnswer{};
  try {
    answer = Send(peer, request, timeout, decode);
  } catch (const std::exception& error) {
    answer = Failed(peer, absl::StatusCode::kInternal, "could not be talked to: ", error.what());
  }
  sending_.store(nullptr);
  const bool interrupted = interrupted_.exchange(false);
  if (interrupted && std::holds_alternative<NoAnswer>(answer)) {
    return NoAnswer{absl::CancelledError("interrupted")};
  }
  return answer;
}

Answer HttpTransport::Send(Peer& peer, httplib::Request& request, absl::Duration timeout,
                           Decoder decode) {
  if (interrupted_.load()) return NoAnswer{};
  std::string body;
  request.content_receiver = [&body](const char* data, std::size_t length, std::uint64_t /*offset*/,
                                     std::uint64_t /*total*/) {
    body.append(data, length);
    return true;
  };
  if (!peer.client->client().is_valid()) {
    return Failed(peer, absl::StatusCode::kInvalidArgument,
                  "cannot be talked to: ", "the client certificate or its key cannot be used");
  }
  peer.client->Bound(RealClock().Now() + timeout);
  httplib::Response response;
  httplib::Error error = httplib::Error::Success;
  if (!peer.client->client().send(request, response, error)) return Explain(peer, error);
  if (response.status == kStatusBadRequest) shards_ = DecodeShards(body);
  if (response.status == kStatusMisdirected) leader_ = FindPeer(DecodeLeader(body));
  return Understand(peer, response.status, body, decode);
}

Answer HttpTransport::Understand(const Peer& peer, int status, const std::string& body,
                                 Decoder decode) {
  if (status >= kStatusOk && status < kStatusRedirection) {
    Answer answer = decode(body);
    const auto* none = std::get_if<NoAnswer>(&answer);
    if (none == nullptr) return answer;
    return Failed(peer, none->why.code(),
                  "sent an answer that cannot be understood: ", std::string(none->why.message()));
  }
  if (status >= kStatusError) {
    absl::StatusOr<Refusal> refusal = DecodeRefusal(body);
    if (refusal.ok()) return *std::move(refusal);
    if (status == kStatusUnauthenticated || status == kStatusForbidden) {
      return Failed(peer, absl::StatusCode::kPermissionDenied,
                    "refuses this agent: ", std::string(refusal.status().message()));
    }
  }
  return Failed(peer, absl::StatusCode::kUnavailable, "answered without a problem document: HTTP ",
                std::to_string(status));
}

// Addresses may be written in several ways.
std::optional<std::size_t> HttpTransport::FindPeer(const std::string& address) const {
  const std::optional<Address> wanted = ParseAddress(address);
  for (std::size_t i = 0; wanted.has_value() && i < peers_.size(); ++i) {
    const std::optional<Address> own = ParseAddress(peers_[i].address);
    if (own->host == wanted->host && own->port == wanted->port && own->tls == wanted->tls) return i;
  }
  return std::nullopt;
}

NoAnswer HttpTransport::Explain(const Peer& peer, httplib::Error error) {
  const Bounds& bounds = peer.client->bounds();
  if (bounds.too_large) {
    return Failed(peer, absl::StatusCode::kResourceExhausted,
                  "sent an answer that is too large: more bytes than ",
                  std::to_string(kAnswerBytesMax));
  }
  if (bounds.line_too_long) {
    return Failed(peer, absl::StatusCode::kDataLoss,
                  "sent what is no HTTP: a header line of more bytes than ",
                  std::to_string(kHeaderLineBytesMax));
  }
  if (bounds.too_late) {
    return Failed(peer, absl::StatusCode::kDeadlineExceeded, "took too long to answer", "");
  }
  return Failed(peer, absl::StatusCode::kUnavailable,
                "does not answer: ", httplib::to_string(error));
}

NoAnswer HttpTransport::Failed(const Peer& peer, absl::StatusCode code, const char* what,
                               const std::string& detail) {
  return NoAnswer{absl::Status(code, absl::StrCat("controller ", peer.address, " ", what, detail))};
}

}  // namespace

std::unique_ptr<Transport> MakeHttpTransport(const std::vector<std::string>& addresses,
                                             absl::Duration connect_timeout,
                                             const TransportCredentials& credentials,
                                             std::optional<int> shard) {
  return std::make_unique<HttpTransport>(addresses, connect_timeout, credentials, shard);
}

}  // namespace plimsoll::internal
