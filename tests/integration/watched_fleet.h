#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plimsoll/agent/agent.h"

namespace plimsoll {

// The policy of the dependencies of these tests: a fixed law, so that the whole quota is given to
// whoever asks. `base_lease` ends what is left of a grant when its lease has.
inline constexpr int kQuota = 20;
inline constexpr int kBase = 2;
std::string FixedPolicy(const std::string& dependency, absl::Duration base_lease);

// An instance of the service "shop" that says nothing on standard error.
absl::StatusOr<std::unique_ptr<Agent>> StartShop(std::size_t number,
                                                 const std::vector<std::string>& controllers);

// Instances that share dependencies, and what they may have in flight. Joining and stopping are
// confined to one thread; the rest is thread-safe.
class WatchedFleet {
 public:
  explicit WatchedFleet(std::vector<std::string> dependencies);
  ~WatchedFleet();

  // One more instance, which uses each of the dependencies.
  absl::Status Join(const std::vector<std::string>& controllers);
  // Of an instance, at the first dependency; 0 as long as it has not joined.
  int limit(std::size_t instance) const;
  // Of all instances, at the dependency at which they have the most.
  int Sum() const;
  // The smallest limit of all.
  int Least() const;

  // From now on, every 2 ms.
  void Watch();
  void StopWatching();
  int largest_sum() const { return largest_sum_; }
  int least() const { return least_; }
  // Forgets how small limits have been.
  void WatchForDips() { least_ = kQuota; }

 private:
  const std::vector<std::string> dependencies_;
  std::vector<std::unique_ptr<Agent>> agents_;
  mutable std::mutex mutex_;
  std::vector<std::vector<const Bulkhead*>> bulkheads_;  // by instance, then dependency
  std::thread watcher_;
  std::atomic<bool> watching_ = false;
  std::atomic<int> largest_sum_ = 0;
  std::atomic<int> least_ = kQuota;
};

}  // namespace plimsoll
