#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace plimsoll::cli {

// What `plimsoll simulate` was asked for.
struct SimulateOptions {
  // One of these.
  std::string file;      // a scenario file
  std::string scenario;  // the name of a designed scenario
  std::string print;     // likewise, to be printed as a file
  std::string suite;     // "algorithms"
  bool list = false;     // the designed ones
  bool help = false;

  std::vector<std::string> laws;  // empty: those of the scenario, or of the suite
  std::uint64_t seed = 1000;
  int runs = 0;  // 0: one, and three in a suite
  bool json = false;
  std::vector<std::string> reports;  // paths, each ends in .html or .svg
  bool quiet = false;
  int jobs = 0;  // 0: as many as the machine has processors
  bool no_optimum = false;
  // Suite only.
  int hold_out = 0;       // number of random scenarios
  std::string scenarios;  // names; empty: all
};

// `arguments` without "plimsoll simulate"; "--flag value" and "--flag=value" are the same. Returns
// kInvalidArgument, saying which argument is wrong and what is allowed. Pure.
absl::StatusOr<SimulateOptions> ParseSimulateOptions(const std::vector<std::string>& arguments);

// What `plimsoll simulate --help` prints.
std::string SimulateUsage();

}  // namespace plimsoll::cli
