#include "tests/bench/law_load.h"

#include <algorithm>
#include <atomic>
#include <utility>  // Asio 1.74 needs it first

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "agent/examples/demo/gate.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/random.h"

namespace plimsoll::bench {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;

constexpr absl::Duration kLookInterval = absl::Milliseconds(50);
constexpr absl::Duration kDrain = absl::Seconds(5);

struct Connection {
  explicit Connection(asio::io_context& io) : socket(io) {}
  Tcp::socket socket;
  boost::beast::flat_buffer buffer;
};

http::request<http::string_body> MakeRequest(const std::string& path) {
  http::request<http::string_body> request(http::verb::post, path, 11);
  request.set(http::field::host, "127.0.0.1");
  request.prepare_payload();
  return request;
}

struct Replica {
  std::unique_ptr<demo::Gate> gate;
  Random random;
  // The one given back last is taken first.
  std::vector<std::unique_ptr<Connection>> idle;
};

}  // namespace

class LawLoad::Impl {
 public:
  explicit Impl(const LoadOptions& options)
      : options_(options),
        provider_(asio::ip::address_v4::loopback(),
                  static_cast<std::uint16_t>(options.provider_port)) {}
  ~Impl() {
    PhaseFigures nobody_reads;
    figures_ = &nobody_reads;
    const Instant give_up = RealClock().Now() + kDrain;
    while (in_flight_ > 0 && RealClock().Now() < give_up) {
      io_.restart();
      io_.run_for(std::chrono::milliseconds(10));
    }
    for (Replica& replica : replicas_) replica.idle.clear();  // sockets must not outlive io_
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  absl::Status Start() {
    const std::vector<std::string> controllers = {
        absl::StrCat("http://127.0.0.1:", options_.controller_port)};
    const std::atomic<bool> told_to_end{false};
    for (int i = 0; i < options_.replicas; ++i) {
      absl::StatusOr<std::unique_ptr<demo::Gate>> gate = demo::MakePlimsollGate(
          controllers, absl::StrCat("replica-", i), true, demo::kDependency, told_to_end);
      if (!gate.ok()) return gate.status();
      const std::uint64_t seed = options_.seed * 1000 + static_cast<std::uint64_t>(i);
      replicas_.push_back({*std::move(gate), Random(seed), {}});
    }
    return absl::OkStatus();
  }

  absl::Status RunPhase(int workers, double calls_per_second, absl::Duration length,
                        PhaseFigures& figures) {
    figures_ = &figures;
    calls_per_second_ = calls_per_second;
    absl::StatusOr<int> set = SetWorkers(workers);  // forgets what earlier phases had in flight
    if (!set.ok()) return set.status();
    const Instant start = RealClock().Now();
    end_ = start + length;
    for (Replica& replica : replicas_) asio::co_spawn(io_, Offer(replica), asio::detached);
    asio::co_spawn(io_, Look(), asio::detached);
    io_.restart();
    io_.run_for(absl::ToChronoNanoseconds(length));
    figures.seconds = absl::ToDoubleSeconds(RealClock().Now() - start);
    figures.mean_limit = looks_ == 0 ? 0 : static_cast<double>(limits_) / looks_;
    limits_ = looks_ = 0;
    set = SetWorkers(workers);
    if (!set.ok()) return set.status();
    figures.in_flight_max = *set;
    return absl::OkStatus();
  }

 private:
  asio::awaitable<void> SleepUntil(asio::steady_timer& timer, Instant at) {
    boost::system::error_code error;
    timer.expires_after(absl::ToChronoNanoseconds(at - RealClock().Now()));
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, error));
  }

  asio::awaitable<void> Offer(Replica& replica) {
    asio::steady_timer timer(io_);
    const Instant end = end_;
    const double mean_gap = options_.replicas / calls_per_second_;
    Instant scheduled = RealClock().Now();
    while (true) {
      scheduled = scheduled + absl::Seconds(replica.random.Exponential(mean_gap));
      if (scheduled >= end) co_return;
      co_await SleepUntil(timer, scheduled);
      ++figures_->arrived;
      if (std::unique_ptr<demo::Pass> pass = replica.gate->TryEnter()) {
        asio::co_spawn(io_, Call(replica, std::move(pass), scheduled), asio::detached);
      } else {
        ++figures_->rejected;
      }
    }
  }

  asio::awaitable<void> Call(Replica& replica, std::unique_ptr<demo::Pass> pass,
                             Instant scheduled) {
    ++in_flight_;
    std::unique_ptr<Connection> connection = Take(replica);
    const bool answered = co_await Exchange(*connection);
    const absl::Duration latency = RealClock().Now() - scheduled;
    const bool good = answered && latency <= options_.deadline;
    pass->End(good ? demo::Outcome::kSucceeded : demo::Outcome::kFailed);
    ++(good ? figures_->good : answered ? figures_->late : figures_->failed);
    if (answered) {
      figures_->latency.Record(latency);
      replica.idle.push_back(std::move(connection));
    }
    --in_flight_;
  }

  std::unique_ptr<Connection> Take(Replica& replica) {
    if (replica.idle.empty()) return std::make_unique<Connection>(io_);
    std::unique_ptr<Connection> connection = std::move(replica.idle.back());
    replica.idle.pop_back();
    return connection;
  }

  asio::awaitable<bool> Exchange(Connection& connection) {
    boost::system::error_code error;
    if (!connection.socket.is_open()) {
      co_await connection.socket.async_connect(provider_,
                                               asio::redirect_error(asio::use_awaitable, error));
      if (!error) connection.socket.set_option(Tcp::no_delay(true), error);
      if (error) co_return false;
    }
    const auto request = MakeRequest("/call");
    co_await http::async_write(connection.socket, request,
                               asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return false;
    http::response<http::string_body> response;
    co_await http::async_read(connection.socket, connection.buffer, response,
                              asio::redirect_error(asio::use_awaitable, error));
    co_return !error && response.result() == http::status::ok;
  }

  asio::awaitable<void> Look() {
    asio::steady_timer timer(io_);
    const Instant end = end_;
    for (Instant at = RealClock().Now(); at < end; at = at + kLookInterval) {
      co_await SleepUntil(timer, at);
      for (const Replica& replica : replicas_) limits_ += replica.gate->limit();
      ++looks_;
    }
  }

  // Waits for the answer: the most in flight since the last time.
  absl::StatusOr<int> SetWorkers(int workers) {
    Connection connection(io_);
    boost::system::error_code error;
    connection.socket.connect(provider_, error);
    if (!error) {
      http::write(connection.socket, MakeRequest(absl::StrCat("/workers/", workers)), error);
    }
    http::response<http::string_body> response;
    if (!error) http::read(connection.socket, connection.buffer, response, error);
    int in_flight_max = 0;
    if (error || !absl::SimpleAtoi(response.body(), &in_flight_max)) {
      return absl::UnavailableError(
          absl::StrCat("the provider does not answer: ", error.message()));
    }
    return in_flight_max;
  }

  const LoadOptions options_;
  const Tcp::endpoint provider_;
  std::vector<Replica> replicas_;
  PhaseFigures* figures_ = nullptr;
  double calls_per_second_ = 0;
  Instant end_;
  int in_flight_ = 0;
  std::int64_t limits_ = 0;
  int looks_ = 0;
  asio::io_context io_{1};  // goes first, with unfinished calls, which refer to the rest
};

LawLoad::LawLoad(const LoadOptions& options) : impl_(std::make_unique<Impl>(options)) {}
LawLoad::~LawLoad() = default;
absl::Status LawLoad::Start() { return impl_->Start(); }
absl::Status LawLoad::RunPhase(int workers, double calls_per_second, absl::Duration length,
                               PhaseFigures& figures) {
  return impl_->RunPhase(workers, calls_per_second, length, figures);
}

}  // namespace plimsoll::bench
