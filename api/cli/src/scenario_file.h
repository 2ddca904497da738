#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plimsoll/simulation/load_scenario.h"

namespace plimsoll::cli {

// What a scenario file says. README.md of this folder has all keys.
struct ScenarioFile {
  LoadScenario scenario;
  std::vector<std::string> laws;  // to be compared; empty: that of the policy
  std::optional<Scope> scope;     // if the policy names one; otherwise it follows the stations
};

// Who has the last word on what was read. Both say what is wrong.
struct ScenarioChecks {
  std::function<absl::Status(const LoadScenario&)> scenario;
  // One of the laws of the file, whose scenario is fine.
  std::function<absl::Status(const std::string& law, const ScenarioFile&)> law;
};

// Reads the text of a scenario file. Everything that is wrong is told at once: the message of the
// kInvalidArgument has one line per fault, "FILE:LINE:COLUMN: POINTER: MESSAGE", where FILE is
// `name` and POINTER a JSON pointer. Pure.
absl::StatusOr<ScenarioFile> ParseScenario(const std::string& text, const std::string& name,
                                           const ScenarioChecks& checks);

// The same for a file on disk. kNotFound or kUnavailable if it cannot be read.
absl::StatusOr<ScenarioFile> LoadScenarioFile(const std::string& path,
                                              const ScenarioChecks& checks);

// The text of a file that says this; ParseScenario reads it back as it was, except for the name of
// the dependency. What has its default value is left out.
std::string PrintScenario(const ScenarioFile& file);

}  // namespace plimsoll::cli
