#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace plimsoll::cli {

// Reads a configuration as plimsoll-controller would, without starting it. Returns one line that
// says it is valid; kDataLoss with one line per fault else.
absl::StatusOr<std::string> CheckConfig(const std::string& path);

}  // namespace plimsoll::cli
