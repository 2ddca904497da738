#pragma once

#include <string>

namespace plimsoll::internal {

struct HealthInput {
  bool store_ok = true;
  bool shutting_down = false;
  bool leader_known = true;
  // What is being learned and for how long, for people; empty if nothing is. Fails nothing.
  std::string learning = {};
};

struct HealthReport {
  bool ok = true;
  std::string text;  // "ok", or one line per check
};

// For /livez: answers are proof enough.
HealthReport CheckLive(bool verbose);
// For /readyz. `exclude` names a check that is left out. Agents do not need the controller to serve
// traffic, so few things make it unready.
HealthReport CheckReady(const HealthInput& input, bool verbose, const std::string& exclude);

}  // namespace plimsoll::internal
