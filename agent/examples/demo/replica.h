#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace plimsoll::demo {

struct ReplicaOptions {
  std::string name;
  std::string provider_host = "127.0.0.1";
  int provider_port = 0;
  std::string controller_host = "127.0.0.1";
  int controller_port = 0;               // 0: none
  std::vector<std::string> controllers;  // several, as URLs; instead of the two above
  bool observed = false;                 // the lane `unlimited`: the controller only looks on
  double calls_per_second = 0;
  std::uint64_t seed = 1;
  bool verbose = false;  // what the agent has to say goes to standard error
};

// The life of one replica, as a process of its own: calls come in on a schedule, the gate lets some
// through to the provider, and a report line goes to standard output whenever the limit changes,
// and every 250 ms. Returns after SIGTERM, when the last call has ended and the share is given
// back; fails if it cannot start.
absl::Status RunReplica(const ReplicaOptions& options);

}  // namespace plimsoll::demo
