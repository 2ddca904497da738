#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/core/time.h"

namespace plimsoll::chaos {

// Asks controllers and members of etcd, through the network that is left alone, who leads, and how
// long etcd does not answer. What it says is a moment old. Thread-safe.
class LeaderWatch {
 public:
  struct Address {
    std::string host;
    int port = 0;
  };

  LeaderWatch(std::vector<Address> controllers, std::vector<Address> members);
  ~LeaderWatch();

  LeaderWatch(const LeaderWatch&) = delete;
  LeaderWatch& operator=(const LeaderWatch&) = delete;

  // Who led last, by the highest epoch seen; nothing before anybody has.
  std::optional<int> controller() const;
  std::optional<int> member() const;
  // "LEADER", "STANDBY", or empty if it did not answer when it was last asked.
  std::string role(int controller) const;
  // The hash of the configuration that it said last.
  std::string config_hash(int controller) const;
  bool etcd_answers() const;
  // Whether etcd has answered after that.
  bool AnsweredSince(Instant at) const;
  int epochs() const;
  // Of etcd: how many were longer than a second, and the longest.
  int stalls() const;
  absl::Duration longest_stall() const;

 private:
  struct Controller {
    Address address;
    std::string role;
    std::string config_hash;
  };

  void Run();
  void AskController(int index);
  void AskMembers();
  void NoteAnswer(bool answered) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::vector<Address> members_;
  mutable Mutex mutex_;
  std::vector<Controller> controllers_ ABSL_GUARDED_BY(mutex_);
  std::optional<int> controller_ ABSL_GUARDED_BY(mutex_);
  std::optional<int> member_ ABSL_GUARDED_BY(mutex_);
  std::set<std::int64_t> epochs_ ABSL_GUARDED_BY(mutex_);
  bool answers_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<Instant> answered_at_ ABSL_GUARDED_BY(mutex_);
  int stalls_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Duration longest_stall_ ABSL_GUARDED_BY(mutex_);

  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

}  // namespace plimsoll::chaos
