#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "plimsoll/core/histogram.h"

namespace plimsoll::bench {

struct OperatorLoadOptions {
  int watchers = 0;         // event streams of /v1/watch that stay open
  int rest_per_second = 0;  // requests, evenly spaced, of the reading routes in turn
  int port = 0;             // of the operator plane, on loopback
  std::string dependency;   // one that there is
};

struct OperatorFigures {
  std::int64_t streams = 0;  // that were answered with 200
  std::int64_t frames = 0;   // events and comments that reached them
  std::int64_t bytes = 0;    // of the streams
  std::int64_t answers = 0;  // of REST, 2xx
  std::int64_t failures = 0;
  std::string first_failure;
  LatencyHistogram latency;  // of REST, from the request's due time
};

// People, consoles and scripts on the operator plane, played by one thread of its own.
class OperatorLoad {
 public:
  // Begins at once.
  explicit OperatorLoad(const OperatorLoadOptions& options);
  ~OperatorLoad();

  OperatorLoad(const OperatorLoad&) = delete;
  OperatorLoad& operator=(const OperatorLoad&) = delete;

  // Ends the load. To be called once.
  OperatorFigures Stop();

 private:
  void Run();

  const OperatorLoadOptions options_;
  OperatorFigures figures_;  // of the thread, until it has ended
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace plimsoll::bench
