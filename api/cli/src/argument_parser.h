#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/cli/src/verb.h"

namespace plimsoll::cli {

// Understands the arguments of the program, without its name, by the table of verbs. "--flag
// value",
// "--flag=value" and "-f value" are the same; flags and words may be mixed; after "--" all are
// words. Returns kInvalidArgument, saying which argument is wrong and what is allowed. Pure.
absl::StatusOr<Invocation> ParseArguments(const std::vector<std::string>& arguments);

// Values of flags: kInvalidArgument names the flag. `usual` is taken if it is not given.
absl::StatusOr<absl::Duration> DurationOf(const Invocation& call, const std::string& flag,
                                          absl::Duration usual);
absl::StatusOr<int> WholeOf(const Invocation& call, const std::string& flag, int usual);
absl::StatusOr<double> ShareOf(const Invocation& call, const std::string& flag, double usual);

}  // namespace plimsoll::cli
