#pragma once

#include "absl/status/status.h"

namespace plimsoll::cli {

// The exit statuses of the program. 130 is that of a shell for what Ctrl-C ended.
inline constexpr int kExitFine = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNotFound = 3;
inline constexpr int kExitConflict = 4;  // or a precondition that does not hold
inline constexpr int kExitDenied = 5;
inline constexpr int kExitUnreachable = 6;  // or too late, not to be trusted, or too busy
inline constexpr int kExitInvalidConfig = 7;
inline constexpr int kExitFinding = 8;  // a check found something

// Which one an error ends with: kInvalidArgument usage, kNotFound, kFailedPrecondition conflict,
// kUnauthenticated and kPermissionDenied denied, kUnavailable, kDeadlineExceeded and
// kResourceExhausted unreachable, kDataLoss invalid configuration, all others failure. Pure.
int ExitOf(const absl::Status& status);

}  // namespace plimsoll::cli
