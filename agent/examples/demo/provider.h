#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/core/random.h"
#include "plimsoll/core/time.h"

namespace httplib {
class Server;
}  // namespace httplib

namespace plimsoll::demo {

// How the provider behaves, given how many calls it works on. README.md shows the curve.
struct ProviderModel {
  int capacity = 50;  // served at full speed up to this many at once
  // Time of a call at full speed: uniform between the two.
  absl::Duration service_min = absl::Milliseconds(80);
  absl::Duration service_max = absl::Milliseconds(100);
  // From here on calls fail after they have wasted their time; all of them at fails_all.
  int fails_from = 100;
  int fails_all = 180;
  // The provider gives up on a call at this age, so that no call outlives the deadline of its
  // caller.
  absl::Duration deadline = absl::Milliseconds(900);
  bool obeys_callers = true;  // and when the caller says that it will not wait any longer
};

// What a call says of itself.
struct CallLimits {
  absl::Duration work = absl::InfiniteDuration();  // the provider gives up after that
  // When it must have ended, on this machine's clock.
  Instant deadline = kInfiniteFuture;
};

// What happens to one call.
struct Fate {
  absl::Duration service;
  bool fails = false;
};

// The fate of a call that arrives as number `in_flight`, itself included. With n > capacity:
//   service = full speed * (n / capacity)^2, so the throughput n / service falls as n rises;
//   P(fails) = (n - fails_from) / (fails_all - fails_from), between 0 and 1.
// `speed_draw` and `fail_draw` are uniform in [0, 1).
Fate FateOf(const ProviderModel& model, int in_flight, double speed_draw, double fail_draw);

// A service over HTTP that is slowed down by concurrency, and counts it: the judge of the demo.
// POST /call is answered with 200 or, after its time is wasted, with 503. Thread-safe, except that
// Start() is called once and first.
class Provider {
 public:
  // Calls that arrive while more than `quota` are in flight, themselves included, are violations.
  Provider(const ProviderModel& model, int quota, std::uint64_t seed);
  ~Provider();

  Provider(const Provider&) = delete;
  Provider& operator=(const Provider&) = delete;

  // Listens on a free port of the address.
  absl::Status Start(const std::string& address = "127.0.0.1");
  // From now on calls are measured against another quota. From any thread.
  void set_quota(int quota) { quota_.store(quota); }
  int port() const { return port_; }

  // Counted by the provider itself, from the entry of a call to its end.
  int in_flight() const { return in_flight_.load(); }
  int in_flight_max() const { return in_flight_max_.load(); }
  // The highest count since the last call of this method.
  int TakeRecentMax() { return recent_max_.exchange(in_flight_.load()); }
  std::int64_t calls() const { return calls_.load(); }
  std::int64_t violations() const { return violations_.load(); }
  // How far a call has exceeded the quota of its moment at most.
  int excess_max() const { return excess_max_.load(); }
  // Calls that had not ended here by the deadline of their caller, and by how much at most.
  std::int64_t late_calls() const { return late_calls_.load(); }
  absl::Duration lateness_max() const { return absl::Nanoseconds(lateness_ns_max_.load()); }

 private:
  int Serve(const CallLimits& limits);  // returns the HTTP status
  void Count(int in_flight);
  void CheckDeadline(Instant deadline);
  Fate Draw(int in_flight);

  const ProviderModel model_;
  std::atomic<int> quota_;
  std::unique_ptr<httplib::Server> server_;
  std::thread thread_;
  int port_ = 0;

  std::atomic<int> in_flight_{0};
  std::atomic<int> in_flight_max_{0};
  std::atomic<int> recent_max_{0};
  std::atomic<std::int64_t> calls_{0};
  std::atomic<std::int64_t> violations_{0};
  std::atomic<int> excess_max_{0};
  std::atomic<std::int64_t> late_calls_{0};
  std::atomic<std::int64_t> lateness_ns_max_{0};

  Mutex mutex_;
  Random random_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace plimsoll::demo
