#pragma once

#include <vector>

#include "controller/src/apportion.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// The shares before they are made whole, slowly and by definition: the level is searched by halving
// an interval. Classes are 0 to 7.
std::vector<double> ObviousShares(Calls available, const std::vector<Claim>& claims);

// Hands out one call at a time to whoever has least, first up to low, then class by class up to
// high, then up to top; the smaller index wins. For claims of equal weight, without holds, and
// whose lows fit, this is the result.
std::vector<Calls> DealOneByOne(Calls available, const std::vector<Claim>& claims);

}  // namespace plimsoll::internal
