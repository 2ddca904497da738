#include "agent/examples/demo/provider.h"

#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "agent/examples/demo/setup.h"
#include "plimsoll/core/clock.h"
namespace plimsoll::demo {
namespace {

// Each open connection holds a thread of the server, so there must be more threads than callers
// have connections: calls that wait for a thread would not be counted.
constexpr std::size_t kThreads = 512;
// The server's own backlog is 5: a burst of connects would lose some for a whole second.
constexpr int kBacklog = 1024;

template <typename T>
void RaiseTo(std::atomic<T>& highest, T value) {
  T seen = highest.load();
  while (seen < value && !highest.compare_exchange_weak(seen, value)) {
  }
}

// What is missing or no number stays unlimited.
CallLimits LimitsOf(const httplib::Request& request) {
  CallLimits limits;
  std::int64_t value = 0;
  if (absl::SimpleAtoi(request.get_header_value(kWorkHeader), &value)) {
    limits.work = absl::Milliseconds(value);
  }
  if (absl::SimpleAtoi(request.get_header_value(kDeadlineHeader), &value)) {
    limits.deadline = {value};
  }
  return limits;
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

absl::Status Provider::Start(const std::string& address) {
  int listener = -1;
  server_->new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server_->set_tcp_nodelay(true);
  server_->set_keep_alive_max_count(1'000'000);
  server_->set_keep_alive_timeout(60);
  server_->set_socket_options([&listener](socket_t socket) { listener = socket; });
  server_->Post("/call", [this](const httplib::Request& request, httplib::Response& response) {
    response.status = Serve(LimitsOf(request));
  });
  port_ = server_->bind_to_any_port(address);
  if (port_ <= 0) {
    return absl::UnavailableError(absl::StrCat("the provider cannot listen on ", address));
  }
  ::listen(listener, kBacklog);
  thread_ = std::thread([this] { server_->listen_after_bind(); });
  // stop() would do nothing before the server runs.
  while (!server_->is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return absl::OkStatus();
}

int Provider::Serve(const CallLimits& limits) {
  const int in_flight = in_flight_.fetch_add(1) + 1;
  Count(in_flight);
  Fate fate = Draw(in_flight);
  if (model_.obeys_callers && fate.service > limits.work) fate = {limits.work, true};
  std::this_thread::sleep_for(absl::ToChronoNanoseconds(fate.service));
  in_flight_.fetch_sub(1);
  CheckDeadline(limits.deadline);
  return fate.fails ? 503 : 200;
}

void Provider::Count(int in_flight) {
  calls_.fetch_add(1);
  RaiseTo(in_flight_max_, in_flight);
  RaiseTo(recent_max_, in_flight);
  const int excess = in_flight - quota_.load();
  if (excess <= 0) return;
  violations_.fetch_add(1);
  RaiseTo(excess_max_, excess);
}

void Provider::CheckDeadline(Instant deadline) {
  const absl::Duration late = RealClock().Now() - deadline;
  if (late <= absl::ZeroDuration()) return;
  late_calls_.fetch_add(1);
  RaiseTo(lateness_ns_max_, absl::ToInt64Nanoseconds(late));
}

Fate Provider::Draw(int in_flight) {
  MutexLock lock(mutex_);
  const double speed_draw = random_.Uniform();
  return FateOf(model_, in_flight, speed_draw, random_.Uniform());
}

}  // namespace plimsoll::demo
