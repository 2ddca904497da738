#pragma once

#include "absl/time/time.h"

namespace plimsoll::internal {

// A thread that waits for longer looks up in between: waits without end are not what condition
// variables of the standard library take.
inline constexpr absl::Duration kLongestNap = absl::Hours(1);

}  // namespace plimsoll::internal
