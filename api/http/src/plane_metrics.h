#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "plimsoll/core/duration_histogram.h"
#include "plimsoll/core/mutex.h"

namespace plimsoll::internal {

// Of method, route and status, whether they are texts or views of them: clang 14 cannot compare the
// one with the other in a tuple.
struct RequestLabelsLess {
  using is_transparent = void;
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return View(a) < View(b);
  }

 private:
  using Views = std::tuple<std::string_view, std::string_view, int>;
  template <typename Labels>
  static Views View(const Labels& labels) {
    return Views(std::get<0>(labels), std::get<1>(labels), std::get<2>(labels));
  }
};

// What one listener has seen. Labels are templates of routes, never what a client sent.
struct PlaneCounts {
  // By method, route and status.
  std::map<std::tuple<std::string, std::string, int>, std::int64_t, RequestLabelsLess> requests;
  std::map<std::string, DurationHistogram, std::less<>> durations;  // by route
  std::int64_t connections = 0;
  std::int64_t connections_refused = 0;
};

// Thread-safe: written by the listener's thread, read by scrapes.
class PlaneMetrics {
 public:
  // So that the series exist before the first request.
  void AddRoute(const std::string& method, const std::string& route) {
    const MutexLock lock(mutex_);
    counts_.durations[route];
    // What changes something answers with a status of its own.
    if (method == "GET") counts_.requests[{method, route, kOk}];
  }
  void CountRequest(std::string_view method, std::string_view route, int status,
                    absl::Duration duration) {
    const MutexLock lock(mutex_);
    const auto count = counts_.requests.find(std::tuple(method, route, status));
    if (count != counts_.requests.end()) {
      ++count->second;
    } else {
      counts_.requests.emplace(std::tuple(method, route, status), 1);
    }
    const auto durations = counts_.durations.find(route);
    if (durations != counts_.durations.end()) {
      durations->second.Record(duration);
    } else {
      counts_.durations[std::string(route)].Record(duration);
    }
  }
  void CountConnection(std::int64_t difference) {
    const MutexLock lock(mutex_);
    counts_.connections += difference;
  }
  void CountRefusedConnection() {
    const MutexLock lock(mutex_);
    ++counts_.connections_refused;
  }
  PlaneCounts Read() const {
    const MutexLock lock(mutex_);
    return counts_;
  }

 private:
  static constexpr int kOk = 200;

  mutable Mutex mutex_;
  PlaneCounts counts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace plimsoll::internal
