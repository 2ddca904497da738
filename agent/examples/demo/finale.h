#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/examples/demo/fleet.h"

namespace plimsoll::demo {

// Where the story can be looked at.
struct Places {
  std::string cli;      // path of plimsoll
  std::string api_url;  // "http://127.0.0.1:41234"
};

// The one that runs and was refused most. Requires a replica that runs.
const Replica& MostRefused(const std::vector<Replica>& replicas);

// What `plimsoll why` says of the dependency, and of that instance of it: its own words, each after
// the command that prints them. Starts it, and waits for its end. Returns kUnavailable with its
// last words if it fails.
absl::StatusOr<std::string> WhySentences(const Places& places, const std::string& instance);

// What to try next, a command a line.
std::string NextSteps(const Places& places, const std::string& instance);

}  // namespace plimsoll::demo
