#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/examples/demonstrations/report.h"
#include "plimsoll/core/time.h"

namespace plimsoll::demonstrations {

// What one is asked for that offers load for a while.
struct RunOptions {
  bool help = false;
  bool json = false;
  double seconds = 20;     // for how long calls arrive
  std::uint64_t seed = 1;  // of arrivals, service times and failures
};

// `arguments` without the name of the program. kInvalidArgument if one is not understood, or if
// --seconds is less than `least_seconds` or more than an hour.
absl::StatusOr<RunOptions> ParseRunOptions(const std::vector<std::string>& arguments,
                                           double least_seconds);

// The body of main(), as RunDemonstration() for one with options: prints the report to standard
// output, and returns the exit status.
int RunWithOptions(int argc, char** argv, double least_seconds, const std::string& usage,
                   const std::function<absl::StatusOr<Report>(const RunOptions&)>& run);

// Blocks the thread. Returns at once if that has passed.
void SleepUntil(Instant at);

}  // namespace plimsoll::demonstrations
