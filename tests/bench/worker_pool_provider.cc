#include "tests/bench/worker_pool_provider.h"

#include <algorithm>
#include <utility>  // Asio 1.74 needs it first

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdio>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "plimsoll/core/mutex.h"

namespace plimsoll::bench {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using Request = http::request<http::string_body>;

const std::string kWorkersPath = "/workers/";

// Wakes the connection whose call is done; lives in its coroutine.
using Bell = asio::steady_timer;

// Threads that sleep. Thread-safe.
class WorkerPool {
 public:
  WorkerPool(int workers, absl::Duration service_time, asio::io_context& io)
      : service_time_(service_time), io_(io), open_(workers) {
    for (int i = 0; i < workers; ++i) threads_.emplace_back([this, i] { Work(i); });
  }
  ~WorkerPool() {
    {
      MutexLock lock(mutex_);
      closed_ = true;
      WakeAll();
    }
    for (std::thread& thread : threads_) thread.join();
  }
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Cancels the bell, in the thread of `io`, when the call was served.
  void Submit(Bell& bell) {
    MutexLock lock(mutex_);
    calls_.push_back(&bell);
    submitted_.NotifyOne();
  }
  void set_open(int workers) {
    MutexLock lock(mutex_);
    open_ = std::clamp(workers, 1, static_cast<int>(threads_.size()));
    WakeAll();
  }

 private:
  void WakeAll() {
    submitted_.NotifyAll();
    opened_.NotifyAll();
  }
  void Work(int number) {
    while (Bell* const bell = Take(number)) {
      std::this_thread::sleep_for(absl::ToChronoNanoseconds(service_time_));
      asio::post(io_, [bell] { bell->cancel(); });
    }
  }
  // Null when it is over.
  Bell* Take(int number) {
    MutexLock lock(mutex_);
    while (!closed_ && (number >= open_ || calls_.empty())) {
      (number >= open_ ? opened_ : submitted_).Wait(mutex_);
    }
    if (closed_) return nullptr;
    Bell* const bell = calls_.front();
    calls_.pop_front();
    return bell;
  }

  const absl::Duration service_time_;
  asio::io_context& io_;
  Mutex mutex_;
  CondVar submitted_;  // where the open ones wait
  CondVar opened_;     // and the others, so that a call wakes none of them
  std::deque<Bell*> calls_ ABSL_GUARDED_BY(mutex_);
  int open_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

// The HTTP side. Confined to the thread of `io`.
class Front {
 public:
  Front(asio::io_context& io, WorkerPool& pool) : io_(io), pool_(pool) {}

  asio::awaitable<void> Accept(Tcp::acceptor& acceptor) {
    while (true) {
      boost::system::error_code error;
      Tcp::socket socket =
          co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
      if (error) continue;
      socket.set_option(Tcp::no_delay(true), error);
      asio::co_spawn(io_, Converse(std::move(socket)), asio::detached);
    }
  }

 private:
  asio::awaitable<void> Converse(Tcp::socket socket) {
    boost::beast::flat_buffer buffer;
    boost::system::error_code error;
    while (true) {
      Request request;
      co_await http::async_read(socket, buffer, request,
                                asio::redirect_error(asio::use_awaitable, error));
      if (error) co_return;
      http::response<http::string_body> response(http::status::ok, 11);
      response.body() = co_await Answer(std::string(request.target()));
      response.prepare_payload();
      co_await http::async_write(socket, response,
                                 asio::redirect_error(asio::use_awaitable, error));
      if (error) co_return;
    }
  }

  asio::awaitable<std::string> Answer(std::string path) {
    int workers = 0;
    if (absl::StartsWith(path, kWorkersPath) &&
        absl::SimpleAtoi(path.substr(kWorkersPath.size()), &workers)) {
      pool_.set_open(workers);
      co_return absl::StrCat(std::exchange(in_flight_max_, in_flight_));
    }
    in_flight_max_ = std::max(in_flight_max_, ++in_flight_);
    Bell bell(io_, Bell::time_point::max());
    pool_.Submit(bell);
    boost::system::error_code cancelled;
    co_await bell.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    --in_flight_;
    co_return std::string();
  }

  asio::io_context& io_;
  WorkerPool& pool_;
  int in_flight_ = 0;
  int in_flight_max_ = 0;
};

}  // namespace

int RunWorkerPoolProvider(int workers, absl::Duration service_time) {
  asio::io_context io(1);
  boost::system::error_code error;
  Tcp::acceptor acceptor(io);
  acceptor.open(Tcp::v4(), error);
  if (!error) acceptor.bind(Tcp::endpoint(asio::ip::address_v4::loopback(), 0), error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    std::fprintf(stderr, "provider: cannot listen: %s\n", error.message().c_str());
    return 1;
  }
  WorkerPool pool(workers, service_time, io);
  Front front(io, pool);
  asio::co_spawn(io, front.Accept(acceptor), asio::detached);
  std::printf("%d\n", acceptor.local_endpoint().port());
  std::fflush(stdout);
  io.run();
  return 0;
}

}  // namespace plimsoll::bench
