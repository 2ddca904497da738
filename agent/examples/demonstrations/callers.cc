#include "agent/examples/demonstrations/callers.h"

#include <httplib.h>

#include <cstddef>
#include <latch>
#include <thread>

#include "plimsoll/core/clock.h"

namespace plimsoll::demonstrations {
namespace {

Answer Call(int port, std::latch& all_connected) {
  httplib::Client client("127.0.0.1", port);
  client.set_keep_alive(true);
  client.set_tcp_nodelay(true);
  const bool connected = static_cast<bool>(client.Get("/healthz"));
  all_connected.arrive_and_wait();
  if (!connected) return {};
  const Instant sent = RealClock().Now();
  const httplib::Result result = client.Get("/call");
  const absl::Duration latency = RealClock().Now() - sent;
  if (!result) return {0, false, latency};
  return {result->status, result->has_header("Retry-After"), latency};
}

}  // namespace

std::vector<Answer> CallAtOnce(int port, int clients) {
  std::vector<Answer> answers(static_cast<std::size_t>(clients));
  std::latch all_connected(clients);
  std::vector<std::thread> threads;
  for (Answer& answer : answers) {
    threads.emplace_back([&answer, &all_connected, port] { answer = Call(port, all_connected); });
  }
  for (std::thread& thread : threads) thread.join();
  return answers;
}

}  // namespace plimsoll::demonstrations
