#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/agent/permit.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/core/random.h"
#include "plimsoll/core/time.h"

namespace plimsoll::demonstrations {

struct ServerModel {
  int servers = 8;
  absl::Duration mean_service = absl::Milliseconds(20);

  double capacity() const { return servers / absl::ToDoubleSeconds(mean_service); }
};

// One call on its way.
struct Job {
  Instant scheduled;             // when it arrived
  std::optional<Permit> permit;  // none in the lane without a bulkhead
};

// A model of a service with a queue without bound: c servers, first come first served, exponential
// service. When a job ends is known when it comes, so one thread is enough, and the capacity is the
// same on a busy machine. Thread-safe.
class QueueServer {
 public:
  // `done` is called by the server's thread, when the job has ended.
  QueueServer(const ServerModel& model, std::uint64_t seed, std::function<void(Job)> done);
  // Drops what has not ended.
  ~QueueServer();
  QueueServer(const QueueServer&) = delete;
  QueueServer& operator=(const QueueServer&) = delete;

  void Submit(Job job);

 private:
  struct Running {
    Instant ends;
    Job job;
  };

  void Work();
  std::optional<Job> NextEnded();

  const ServerModel model_;
  const std::function<void(Job)> done_;

  Mutex mutex_;
  CondVar changed_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  Random random_ ABSL_GUARDED_BY(mutex_);
  std::vector<Instant> free_at_ ABSL_GUARDED_BY(mutex_);  // of each server
  std::vector<Running> running_ ABSL_GUARDED_BY(mutex_);  // a heap, the next to end on top

  std::thread thread_;
};

}  // namespace plimsoll::demonstrations
