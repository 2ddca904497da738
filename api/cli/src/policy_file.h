#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/cli/src/json.h"

namespace plimsoll::cli {

// One dependency of a file, as a body of PUT /v1/dependencies/{name}.
struct DependencyDocument {
  std::string name;
  Json body;  // with what the file's defaults say, where the dependency says nothing
};

// Reads a file with the keys `defaults` and `dependencies`, as in the controller's configuration,
// and checks it as the controller does. Returns kDataLoss with one line per fault,
// "FILE:LINE:COLUMN: POINTER: MESSAGE", where FILE is `name`. Pure.
absl::StatusOr<std::vector<DependencyDocument>> ReadPolicyFile(const std::string& text,
                                                               const std::string& name);

}  // namespace plimsoll::cli
