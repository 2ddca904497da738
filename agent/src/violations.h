#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace plimsoll::internal {

// What is wrong with a set of options: one line each, of name, value and rule.
class Violations {
 public:
  template <typename T>
  void Require(bool holds, const char* name, const T& value, const char* rule) {
    if (!holds) lines_.push_back(absl::StrCat(name, " is ", value, ": must be ", rule));
  }

  // kInvalidArgument with all of them, or OK.
  absl::Status ToStatus(const char* options) const {
    if (lines_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(options, ": ", absl::StrJoin(lines_, "; ")));
  }

 private:
  std::vector<std::string> lines_;
};

}  // namespace plimsoll::internal
