#pragma once

#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plimsoll/agent/bulkhead.h"
#include "plimsoll/core/mutex.h"

namespace httplib {
class Server;
}  // namespace httplib

namespace plimsoll::demonstrations {

// A service over HTTP with room for so many calls: GET /call is worked on for a while, and if there
// is no room, waits for its turn in the server. GET /healthz is answered at once. Thread-safe.
class CallServer {
 public:
  // Listens on a free port of this machine. If there is a `bulkhead`, which must outlive the
  // server, it decides which calls come in; else all do.
  static absl::StatusOr<std::unique_ptr<CallServer>> Start(int room, absl::Duration work,
                                                           Bulkhead* bulkhead);
  ~CallServer();
  CallServer(const CallServer&) = delete;
  CallServer& operator=(const CallServer&) = delete;

  int port() const { return port_; }

 private:
  CallServer(int room, absl::Duration work);
  absl::Status Listen(Bulkhead* bulkhead);
  void Work();

  const int room_;
  const absl::Duration work_;
  const std::unique_ptr<httplib::Server> server_;
  std::thread thread_;
  int port_ = 0;

  Mutex mutex_;
  CondVar room_made_;
  int working_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace plimsoll::demonstrations
