#include "agent/examples/demo/call_pool.h"

#include <httplib.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/examples/demo/setup.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::demo {
namespace {

// The system gives up on a request that nobody has acknowledged, instead of sending it once more
// when the network has healed, long after its deadline.
void LetNothingArriveLate(socket_t socket) {
  const auto milliseconds = static_cast<unsigned>(absl::ToInt64Milliseconds(kTransferTime));
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof(milliseconds));
}

// The provider is told how long it may work, counted from the arrival: no clock of another machine
// can be trusted. The last byte is sent only if the clock still says so, since a process can be
// stopped anywhere before; without that byte the provider does not begin.
Outcome Post(httplib::Client& connection, const Pass& pass) {
  const absl::Duration time_left = pass.time_left();
  const absl::Duration work = time_left - kTransferTime;
  if (work <= absl::ZeroDuration()) return Outcome::kNotSent;
  const std::chrono::microseconds limit = absl::ToChronoMicroseconds(time_left);
  connection.set_connection_timeout(limit);
  connection.set_read_timeout(limit);
  connection.set_write_timeout(limit);
  const auto last_byte = [&](std::size_t, std::size_t, httplib::DataSink& sink) {
    return pass.time_left() >= work + kTransferTime / 2 && sink.write("!", 1);
  };
  const httplib::Headers headers = {
      {kWorkHeader, absl::StrCat(absl::ToInt64Milliseconds(work))},
      {kDeadlineHeader, absl::StrCat((RealClock().Now() + time_left).ns)}};
  const httplib::Result reply =
      connection.Post("/call", headers, 1, last_byte, "application/octet-stream");
  if (reply.error() == httplib::Error::Canceled) return Outcome::kNotSent;
  return reply && reply->status == 200 ? Outcome::kSucceeded : Outcome::kFailed;
}

}  // namespace

CallPool::CallPool(int threads, Address provider, Tally& tally)
    : provider_(std::move(provider)), tally_(tally) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

CallPool::~CallPool() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
    submitted_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void CallPool::Submit(std::unique_ptr<Pass> pass, Instant scheduled) {
  tally_.Sent();
  MutexLock lock(mutex_);
  calls_.push_back({std::move(pass), scheduled});
  submitted_.NotifyOne();
}

void CallPool::Work() {
  while (true) {
    Call call;
    {
      MutexLock lock(mutex_);
      while (calls_.empty() && !closed_) submitted_.Wait(mutex_);
      if (calls_.empty()) return;
      call = std::move(calls_.front());
      calls_.pop_front();
    }
    Make(call);
  }
}

void CallPool::Make(Call& call) {
  std::unique_ptr<httplib::Client> connection = TakeConnection();
  const Outcome outcome = Post(*connection, *call.pass);
  call.pass->End(outcome);
  tally_.Ended(outcome == Outcome::kSucceeded, RealClock().Now() - call.scheduled);
  GiveBack(std::move(connection));
}

std::unique_ptr<httplib::Client> CallPool::TakeConnection() {
  {
    MutexLock lock(mutex_);
    if (!connections_.empty()) {
      std::unique_ptr<httplib::Client> connection = std::move(connections_.back());
      connections_.pop_back();
      return connection;
    }
  }
  auto connection = std::make_unique<httplib::Client>(provider_.host, provider_.port);
  connection->set_keep_alive(true);
  connection->set_tcp_nodelay(true);
  connection->set_socket_options(LetNothingArriveLate);
  return connection;
}

void CallPool::GiveBack(std::unique_ptr<httplib::Client> connection) {
  MutexLock lock(mutex_);
  connections_.push_back(std::move(connection));
}

}  // namespace plimsoll::demo
