#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace plimsoll::cli {

// Which configuration to check, and how.
struct ConfigCheck {
  std::string path;
  bool strict = false;        // variables PLIMSOLL_* that nobody knows are faults
  bool skip_secrets = false;  // leaves unread the files of tokens and certificates
};

struct ConfigVerdict {
  std::string line;                   // that says it is valid
  std::vector<std::string> warnings;  // what is no fault, but should be looked at
};

// Reads a configuration as plimsoll-controller would in this environment, without starting it: the
// files that it includes and refers to as well. kDataLoss with one line per fault if it would not
// do.
absl::StatusOr<ConfigVerdict> CheckConfig(const ConfigCheck& check);

}  // namespace plimsoll::cli
