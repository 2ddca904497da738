#pragma once

#include "plimsoll/controller/sizing.h"

namespace plimsoll::internal {

// The steps above which a dependency counts as full: most of them.
inline constexpr double kMostSteps = 0.5;
// Of use: below, limits protect nobody; above, the next burst is refused.
inline constexpr double kUseLow = 0.3;
inline constexpr double kUseHigh = 0.9;

// Adds the sentences that say where each advised number comes from.
void AddReasons(SizingAdvice& advice);

// Adds what is to be pointed out about a dependency as it is set and used. `advice` has its
// numbers.
void AddRemarks(const DependencyRow& row, SizingAdvice& advice);

}  // namespace plimsoll::internal
