#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace plimsoll {

// The whole text of a file. kNotFound if there is none, kUnavailable if it cannot be read; the
// message names the path.
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace plimsoll
