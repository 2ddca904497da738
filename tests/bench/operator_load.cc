#include "tests/bench/operator_load.h"

#include <algorithm>
#include <array>
#include <utility>  // Asio 1.74 needs it first

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::bench {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;

// Streams are opened one after the other: the controller's own rate limit is not what is measured.
constexpr absl::Duration kBetweenStreams = absl::Milliseconds(20);
// Requests that may be under way at the same time.
constexpr int kRestConnections = 4;

Tcp::endpoint Loopback(int port) {
  return {asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port)};
}

void Fail(OperatorFigures& figures, const std::string& why) {
  if (figures.failures++ == 0) figures.first_failure = why;
}

std::vector<std::string> Routes(const std::string& dependency) {
  return {"/v1/status",
          "/v1/dependencies",
          absl::StrCat("/v1/dependencies/", dependency),
          absl::StrCat("/v1/dependencies/", dependency, "/quota"),
          "/v1/limits?page_size=100",
          "/v1/instances?page_size=100",
          "/v1/events?page_size=100",
          absl::StrCat("/v1/timeseries?dependency=", dependency),
          "/v1/sizing",
          "/metrics"};
}

std::string Get(const std::string& path) {
  return absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
}

// Reads an event stream and counts what comes.
class Watcher {
 public:
  Watcher(asio::io_context& io, OperatorFigures& figures) : socket_(io), figures_(figures) {}

  asio::awaitable<void> Run(int port) {
    boost::system::error_code error;
    const std::string request = Get("/v1/watch");
    co_await socket_.async_connect(Loopback(port),
                                   asio::redirect_error(asio::use_awaitable, error));
    if (!error)
      co_await asio::async_write(socket_, asio::buffer(request),
                                 asio::redirect_error(asio::use_awaitable, error));
    bool first = true;
    while (!error) {
      const std::size_t bytes = co_await socket_.async_read_some(
          asio::buffer(data_), asio::redirect_error(asio::use_awaitable, error));
      const std::string_view text(data_.data(), bytes);
      if (first && bytes > 0) Begin(text);
      first = false;
      Count(text);
    }
    if (!closed_) Fail(figures_, absl::StrCat("a stream ended: ", error.message()));
  }

  void Close() {
    boost::system::error_code ignored;
    closed_ = true;
    socket_.close(ignored);
  }

 private:
  void Begin(std::string_view text) {
    if (text.find(" 200 ") < 16) {
      ++figures_.streams;
    } else {
      Fail(figures_, absl::StrCat("a stream was refused: ", std::string(text.substr(0, 120))));
    }
  }

  // An empty line ends an event.
  void Count(std::string_view text) {
    figures_.bytes += static_cast<std::int64_t>(text.size());
    for (const char c : text) {
      if (c == '\n' && last_ == '\n') ++figures_.frames;
      if (c != '\r') last_ = c;
    }
  }

  Tcp::socket socket_;
  OperatorFigures& figures_;
  bool closed_ = false;
  char last_ = 0;
  std::array<char, 16384> data_;
};

// Sends one request after the other over a connection, each when it is due.
class Reader {
 public:
  Reader(asio::io_context& io, OperatorFigures& figures)
      : socket_(io), timer_(io), figures_(figures) {}

  asio::awaitable<void> Run(const OperatorLoadOptions& options, int index) {
    boost::system::error_code error;
    co_await socket_.async_connect(Loopback(options.port),
                                   asio::redirect_error(asio::use_awaitable, error));
    if (error) Fail(figures_, absl::StrCat("connect: ", error.message()));
    const std::vector<std::string> routes = Routes(options.dependency);
    const absl::Duration step = absl::Seconds(1) / options.rest_per_second;
    const Instant begin = RealClock().Now();
    for (auto k = static_cast<std::size_t>(index); !error && !closed_; k += kRestConnections) {
      const Instant due = begin + step * static_cast<double>(k);
      timer_.expires_after(absl::ToChronoNanoseconds(due - RealClock().Now()));
      co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, error));
      if (closed_) co_return;
      co_await Ask(routes[k % routes.size()], due, error);
    }
  }

  void Close() {
    boost::system::error_code ignored;
    closed_ = true;
    socket_.close(ignored);
    timer_.cancel();
  }

 private:
  asio::awaitable<void> Ask(const std::string& path, Instant due,
                            boost::system::error_code& error) {
    const std::string request = Get(path);
    http::response<http::string_body> answer;
    co_await asio::async_write(socket_, asio::buffer(request),
                               asio::redirect_error(asio::use_awaitable, error));
    if (!error) {
      co_await http::async_read(socket_, buffer_, answer,
                                asio::redirect_error(asio::use_awaitable, error));
    }
    if (closed_) co_return;
    if (error || answer.result_int() >= 300) {
      Fail(figures_,
           absl::StrCat(path, ": ", error ? error.message() : std::to_string(answer.result_int())));
      co_return;
    }
    ++figures_.answers;
    figures_.latency.Record(RealClock().Now() - due);
  }

  Tcp::socket socket_;
  asio::steady_timer timer_;
  OperatorFigures& figures_;
  bool closed_ = false;
  boost::beast::flat_buffer buffer_;
};

}  // namespace

OperatorLoad::OperatorLoad(const OperatorLoadOptions& options)
    : options_(options), thread_([this] { Run(); }) {}

OperatorLoad::~OperatorLoad() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

OperatorFigures OperatorLoad::Stop() {
  stopping_ = true;
  thread_.join();
  return figures_;
}

void OperatorLoad::Run() {
  asio::io_context io(1);
  std::vector<std::unique_ptr<Watcher>> watchers;
  std::vector<std::unique_ptr<Reader>> readers;
  for (int i = 0; i < kRestConnections && options_.rest_per_second > 0; ++i) {
    readers.push_back(std::make_unique<Reader>(io, figures_));
    asio::co_spawn(io, readers.back()->Run(options_, i), asio::detached);
  }
  while (!stopping_) {
    if (static_cast<int>(watchers.size()) < options_.watchers) {
      watchers.push_back(std::make_unique<Watcher>(io, figures_));
      asio::co_spawn(io, watchers.back()->Run(options_.port), asio::detached);
    }
    io.run_for(absl::ToChronoMilliseconds(kBetweenStreams));
    io.restart();
  }
  for (const auto& watcher : watchers) watcher->Close();
  for (const auto& reader : readers) reader->Close();
  io.run_for(std::chrono::seconds(1));
}

}  // namespace plimsoll::bench
