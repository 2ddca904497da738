#include "agent/examples/demonstrations/call_server.h"

#include <httplib.h>
#include <plimsoll/middleware/httplib_server.h>
#include <sys/socket.h>

#include <chrono>
#include <utility>

namespace plimsoll::demonstrations {
namespace {

// A connection holds a thread of the server while it is open, and there are 40.
constexpr std::size_t kThreads = 64;
// The server's own backlog is 5: of a burst of connects some would be lost for a whole second.
constexpr int kBacklog = 128;
constexpr char kHealth[] = "/healthz";

}  // namespace

absl::StatusOr<std::unique_ptr<CallServer>> CallServer::Start(int room, absl::Duration work,
                                                              Bulkhead* bulkhead) {
  std::unique_ptr<CallServer> server(new CallServer(room, work));
  if (absl::Status status = server->Listen(bulkhead); !status.ok()) return status;
  return server;
}

CallServer::CallServer(int room, absl::Duration work)
    : room_(room), work_(work), server_(std::make_unique<httplib::Server>()) {}

CallServer::~CallServer() {
  server_->stop();
  if (thread_.joinable()) thread_.join();
}

absl::Status CallServer::Listen(Bulkhead* bulkhead) {
  if (bulkhead != nullptr) {
    HttplibServerOptions options;
    options.exempt = [](const httplib::Request& request) { return request.path == kHealth; };
    absl::Status limited = LimitServer(*server_, *bulkhead, std::move(options));
    if (!limited.ok()) return limited;
  }
  int listener = -1;
  server_->new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server_->set_tcp_nodelay(true);
  server_->set_socket_options([&listener](socket_t socket) { listener = socket; });
  server_->Get(kHealth, [](const httplib::Request&, httplib::Response&) {});
  server_->Get("/call", [this](const httplib::Request&, httplib::Response&) { Work(); });
  port_ = server_->bind_to_any_port("127.0.0.1");
  if (port_ <= 0) return absl::UnavailableError("no port of 127.0.0.1 can be listened on");
  ::listen(listener, kBacklog);
  thread_ = std::thread([this] { server_->listen_after_bind(); });
  // stop() would do nothing before the server runs.
  while (!server_->is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return absl::OkStatus();
}

void CallServer::Work() {
  {
    MutexLock lock(mutex_);
    while (working_ == room_) room_made_.Wait(mutex_);
    ++working_;
  }
  std::this_thread::sleep_for(absl::ToChronoNanoseconds(work_));
  {
    MutexLock lock(mutex_);
    --working_;
  }
  room_made_.NotifyOne();
}

}  // namespace plimsoll::demonstrations
