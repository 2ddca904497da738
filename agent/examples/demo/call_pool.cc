#include "agent/examples/demo/call_pool.h"

#include <httplib.h>

#include <chrono>
#include <utility>

#include "plimsoll/core/clock.h"

namespace plimsoll::demo {
namespace {

Outcome Post(httplib::Client& connection, absl::Duration timeout) {
  const std::chrono::microseconds limit = absl::ToChronoMicroseconds(timeout);
  if (limit.count() <= 0) return Outcome::kNotSent;
  connection.set_connection_timeout(limit);
  connection.set_read_timeout(limit);
  connection.set_write_timeout(limit);
  const httplib::Result reply = connection.Post("/call");
  return reply && reply->status == 200 ? Outcome::kSucceeded : Outcome::kFailed;
}

}  // namespace

CallPool::CallPool(int threads, int provider_port, Tally& tally)
    : provider_port_(provider_port), tally_(tally) {
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
  const Outcome outcome = Post(*connection, call.pass->time_left());
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
  auto connection = std::make_unique<httplib::Client>("127.0.0.1", provider_port_);
  connection->set_keep_alive(true);
  connection->set_tcp_nodelay(true);
  return connection;
}

void CallPool::GiveBack(std::unique_ptr<httplib::Client> connection) {
  MutexLock lock(mutex_);
  connections_.push_back(std::move(connection));
}

}  // namespace plimsoll::demo
