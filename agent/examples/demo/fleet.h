#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/report.h"
#include "plimsoll/core/time.h"

namespace plimsoll::demo {

// What is known of one replica, whichever processes it consisted of.
struct Replica {
  std::string name;
  double calls_per_second = 0;
  std::unique_ptr<ChildProcess> process;  // null: it does not run
  int starts = 0;
  bool has_spoken = false;        // the process that runs has reported
  bool has_succeeded = false;     // and has had a call succeed
  Report total;                   // limit: of the process that runs, else 0
  absl::Duration limit_integral;  // limit * time, since the counts were reset
  Instant limit_since;
};

struct FleetOptions {
  std::string program;  // this one
  int provider_port = 0;
  int controller_port = 0;  // 0: none
  std::uint64_t seed = 1;
  std::string provider_host = "127.0.0.1";
  std::string controller_host = "127.0.0.1";
  std::vector<std::string> controllers = {};  // several, as URLs; instead of host and port
  std::string log_folder = "";  // for what agents and replicas have to say; empty: they say nothing
  bool observed = false;        // the replicas keep their hand-set limits, and are observed
};

// The replicas, each a process of its own. Confined to the thread that made it.
class Fleet {
 public:
  explicit Fleet(FleetOptions options) : options_(std::move(options)) {}

  // Starts a new replica, or one that was stopped, under its old name.
  absl::Status Start(const std::string& name, double calls_per_second);
  absl::Status Restart(std::size_t index);
  // kill -9, and no report of its last calls.
  void Kill(std::size_t index);
  // SIGTERM: it gives its share back and ends by itself.
  void Terminate(std::size_t index);
  // Waits for all that were told to end; kills those that do not.
  void StopAll();

  // Reads what the replicas report, for `wait`. Fails if one has ended that should not have.
  absl::Status Read(absl::Duration wait);

  bool AllHaveSpoken() const;
  void ResetCounts();
  const std::vector<Replica>& replicas() const { return replicas_; }
  // Of all replicas since ResetCounts(); limit is the sum of those that run.
  Report Total() const;
  double MeanLimit(const Replica& replica) const;

 private:
  void Take(Replica& replica);
  void SetLimit(Replica& replica, int limit);
  absl::Status CheckEnded(Replica& replica);

  FleetOptions options_;
  std::vector<Replica> replicas_;
  Instant reset_at_;
};

}  // namespace plimsoll::demo
