#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/cli/src/scenario_file.h"
#include "plimsoll/simulation/load_simulator.h"

namespace plimsoll::cli {

// The law of the scenario's own policy.
LawUnderTest OwnLaw(const ScenarioFile& file);

// A law by its name: an algorithm ("aimd": with the settings that the scenario's policy has for
// it), a law of the suite, or "static:N", where each replica keeps N and there is no controller.
// `suite_first` decides for names that are both. kInvalidArgument lists what there is.
absl::StatusOr<LawUnderTest> FindLaw(const std::string& name, const ScenarioFile& file,
                                     const std::vector<LawUnderTest>& suite, bool suite_first);

}  // namespace plimsoll::cli
