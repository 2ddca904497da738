#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "tests/integration/chaos/network.h"
#include "tests/integration/chaos/result.h"

namespace plimsoll::chaos {

struct RunOptions {
  std::string programs;
  std::string folder;
  bool keep_logs = false;
  double seconds = 60;
  std::uint64_t seed = 1;
  ChaosNetwork* network = nullptr;  // null: no network faults
  std::string no_network_because;
  bool careless_provider = false;
  int controllers = 1;
  int members = 0;  // of etcd
  bool slow_election = false;
  std::function<void(const std::string& line)> trace;
};

// From the end of the last fault until everything must be well: what dead replicas kept reserved
// has run out by then.
double SettleSeconds(int controllers);

// One run. Fails if it cannot start, and with kCancelled after a signal; whatever happens later is
// part of the result.
absl::StatusOr<Result> Run(const RunOptions& options);

// Makes SIGINT and SIGTERM end the run.
void CatchSignals();

}  // namespace plimsoll::chaos
