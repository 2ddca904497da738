#include "api/http/src/http_listener.h"

// <utility> comes first: <boost/asio/awaitable.hpp> 1.74 uses std::exchange without including it.
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <unordered_set>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "api/http/src/http_connection.h"

namespace plimsoll::internal {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr int kBacklog = 4096;
constexpr std::chrono::milliseconds kSweepPeriod{250};
// After a failed accept, mostly for want of descriptors: trying at once would spin.
constexpr std::chrono::milliseconds kAcceptPause{50};

}  // namespace

class HttpListener::Impl {
 public:
  Impl(asio::io_context& loop, ConnectionContext context)
      : context_(std::move(context)),
        loop_(loop),
        acceptor_(loop),
        sweep_timer_(loop),
        pause_timer_(loop) {}

  absl::Status Bind(const ListenAddress& listen) {
    error_code error;
    const asio::ip::address address = asio::ip::make_address(listen.address, error);
    if (error) {
      return absl::InvalidArgumentError(
          absl::StrCat("listen address '", listen.address, "' must be a numeric IP address"));
    }
    const tcp::endpoint endpoint(address, listen.port);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(kBacklog, error);
    if (error) {
      return absl::UnavailableError(absl::StrCat("cannot listen on ", listen.address, " port ",
                                                 listen.port, ": ", error.message()));
    }
    port_ = acceptor_.local_endpoint(error).port();
    return absl::OkStatus();
  }

  std::uint16_t port() const { return port_; }

  void Start() {
    asio::co_spawn(loop_, Accept(), asio::detached);
    asio::co_spawn(loop_, Sweep(), asio::detached);
  }

  void SetAuthenticator(Authenticator authenticator) {
    context_.authenticator = std::move(authenticator);
  }

  void SetTls(std::shared_ptr<TlsContext> tls) { context_.tls = std::move(tls); }

  void Drain(std::function<void()> done) {
    StopAccepting();
    drained_ = std::move(done);
    for (HttpConnection* connection : Connections()) connection->Drain();
    TellIfDrained();
  }

  void Abort() {
    StopAccepting();
    aborted_ = true;
    sweep_timer_.cancel();
    for (HttpConnection* connection : Connections()) connection->Abort();
  }

 private:
  asio::awaitable<void> Accept() {
    while (acceptor_.is_open()) {
      error_code error;
      tcp::socket socket =
          co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, error));
      // One may have been accepted before the acceptor was closed: it came too late.
      if (!acceptor_.is_open()) co_return;
      if (!error) {
        Admit(std::move(socket));
        continue;
      }
      pause_timer_.expires_after(kAcceptPause);
      co_await pause_timer_.async_wait(asio::redirect_error(asio::use_awaitable, error));
    }
  }

  void Admit(tcp::socket socket) {
    if (connections_.size() >= static_cast<std::size_t>(context_.limits.connections_max)) {
      context_.metrics.CountRefusedConnection();
      return;
    }
    error_code ignored;
    const std::string address = socket.remote_endpoint(ignored).address().to_string();
    if (IsTooMany(address)) {
      context_.metrics.CountRefusedConnection();
      return;
    }
    ++by_address_[address];
    const auto connection = std::make_shared<HttpConnection>(
        std::move(socket), context_, [this](HttpConnection& closed) { Forget(closed); });
    connections_.insert(connection.get());
    context_.metrics.CountConnection(1);
    connection->Start();
  }

  void Forget(HttpConnection& connection) {
    connections_.erase(&connection);
    const auto count = by_address_.find(connection.remote_address());
    if (count != by_address_.end() && --count->second == 0) by_address_.erase(count);
    context_.metrics.CountConnection(-1);
    TellIfDrained();
  }

  bool IsTooMany(const std::string& address) const {
    const int most = context_.limits.connections_per_address_max;
    const auto found = by_address_.find(address);
    return most > 0 && found != by_address_.end() && found->second >= most;
  }

  asio::awaitable<void> Sweep() {
    while (!aborted_) {
      error_code ignored;
      sweep_timer_.expires_after(kSweepPeriod);
      co_await sweep_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      const Instant now = context_.clock.Now();
      for (HttpConnection* connection : connections_) connection->CheckDeadline(now);
    }
  }

  void StopAccepting() {
    error_code ignored;
    acceptor_.close(ignored);
    pause_timer_.cancel();
  }

  void TellIfDrained() {
    if (drained_ && connections_.empty()) std::exchange(drained_, nullptr)();
  }

  // A copy, because connections leave the set when they end.
  std::vector<HttpConnection*> Connections() const {
    return {connections_.begin(), connections_.end()};
  }

  ConnectionContext context_;
  asio::io_context& loop_;
  tcp::acceptor acceptor_;
  asio::steady_timer sweep_timer_;
  asio::steady_timer pause_timer_;
  std::unordered_set<HttpConnection*> connections_;
  absl::flat_hash_map<std::string, int> by_address_;
  std::function<void()> drained_;
  std::uint16_t port_ = 0;
  bool aborted_ = false;
};

HttpListener::HttpListener(asio::io_context& loop, const ListenerLimits& limits,
                           std::string server_name, HttpService& service, PlaneMetrics& metrics,
                           Authenticator authenticator, const Clock& clock)
    : impl_(std::make_unique<Impl>(loop, ConnectionContext{limits,
                                                           std::move(server_name),
                                                           service,
                                                           metrics,
                                                           clock,
                                                           std::move(authenticator),
                                                           nullptr,
                                                           Random::FromEntropy(),
                                                           0,
                                                           {}})) {}
HttpListener::~HttpListener() = default;
absl::Status HttpListener::Bind(const ListenAddress& address) { return impl_->Bind(address); }
std::uint16_t HttpListener::port() const { return impl_->port(); }
void HttpListener::Start() { impl_->Start(); }
void HttpListener::SetAuthenticator(Authenticator authenticator) {
  impl_->SetAuthenticator(std::move(authenticator));
}
void HttpListener::SetTls(std::shared_ptr<TlsContext> tls) { impl_->SetTls(std::move(tls)); }
void HttpListener::Drain(std::function<void()> done) { impl_->Drain(std::move(done)); }
void HttpListener::Abort() { impl_->Abort(); }

}  // namespace plimsoll::internal
