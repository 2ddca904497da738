#include "agent/examples/demo/provider.h"

#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>

namespace plimsoll::demo {
namespace {

// Each open connection holds a thread of the server, so there must be more threads than callers
// have connections: calls that wait for a thread would not be counted.
constexpr std::size_t kThreads = 512;
// The server's own backlog is 5: a burst of connects would lose some for a whole second.
constexpr int kBacklog = 1024;

void RaiseTo(std::atomic<int>& highest, int value) {
  int seen = highest.load();
  while (seen < value && !highest.compare_exchange_weak(seen, value)) {
  }
}

}  // namespace

Fate FateOf(const ProviderModel& model, int in_flight, double speed_draw, double fail_draw) {
  Fate fate;
  fate.service = model.service_min + (model.service_max - model.service_min) * speed_draw;
  if (in_flight > model.capacity) {
    const double excess = static_cast<double>(in_flight) / model.capacity;
    fate.service *= excess * excess;
  }
  const double share =
      static_cast<double>(in_flight - model.fails_from) / (model.fails_all - model.fails_from);
  fate.fails = fail_draw < share || fate.service > model.deadline;
  fate.service = std::min(fate.service, model.deadline);
  return fate;
}

Provider::Provider(const ProviderModel& model, int quota, std::uint64_t seed)
    : model_(model), quota_(quota), server_(std::make_unique<httplib::Server>()), random_(seed) {}

Provider::~Provider() {
  server_->stop();
  if (thread_.joinable()) thread_.join();
}

absl::Status Provider::Start() {
  int listener = -1;
  server_->new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server_->set_tcp_nodelay(true);
  server_->set_keep_alive_max_count(1'000'000);
  server_->set_keep_alive_timeout(60);
  server_->set_socket_options([&listener](socket_t socket) { listener = socket; });
  server_->Post("/call", [this](const httplib::Request&, httplib::Response& response) {
    response.status = Serve();
  });
  port_ = server_->bind_to_any_port("127.0.0.1");
  if (port_ <= 0) return absl::UnavailableError("the provider cannot listen on 127.0.0.1");
  ::listen(listener, kBacklog);
  thread_ = std::thread([this] { server_->listen_after_bind(); });
  // stop() would do nothing before the server runs.
  while (!server_->is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return absl::OkStatus();
}

int Provider::Serve() {
  const int in_flight = in_flight_.fetch_add(1) + 1;
  calls_.fetch_add(1);
  RaiseTo(in_flight_max_, in_flight);
  RaiseTo(recent_max_, in_flight);
  if (in_flight > quota_) violations_.fetch_add(1);
  const Fate fate = Draw(in_flight);
  std::this_thread::sleep_for(absl::ToChronoNanoseconds(fate.service));
  in_flight_.fetch_sub(1);
  return fate.fails ? 503 : 200;
}

Fate Provider::Draw(int in_flight) {
  MutexLock lock(mutex_);
  const double speed_draw = random_.Uniform();
  return FateOf(model_, in_flight, speed_draw, random_.Uniform());
}

}  // namespace plimsoll::demo
