#pragma once

#include <vector>

#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// What one claimant may get of a number of calls. Requires 0 <= low <= high <= top and a finite
// weight >= 0.
struct Claim {
  double weight = 1;  // 0: nothing beyond `low`
  Calls low = 0;      // handed out first
  Calls high = 0;     // what it can use now
  Calls top = 0;      // the most it may get, also as headroom
  Calls holds = 0;    // what it has now; decides ties only
};

// Divides `available` calls (negative counts as 0) among the claims, weighted max-min: raise a
// common level; the share of a claim is level * weight, but within its bounds; stop when everything
// is handed out. In this order:
//
//   1. the lows do not fit:    shares in proportion to the lows
//   2. the demands do not fit: share = clamp(level * weight, low, high)
//   3. they do:                share = clamp(level * weight, high, top): headroom
//
// Shares become whole by largest remainder: everybody gets his share rounded down, and what is left
// goes, one call each, to the largest fractions. Fractions are compared in sixteenths, so that
// noise moves no call; among equals who holds that call now keeps it, then the smaller index wins.
// Never max(1, ...): the sum would exceed what is available. The result, by index of the claim:
//
//   - sums to min(available, sum of top) exactly, where a claim of weight 0 counts as low;
//   - lies between low and top, unless the lows do not fit: then between 0 and low;
//   - is less than 1 away from the share;
//   - does not change when it is handed in again as `holds`;
//   - does not grow by a larger `high` once it is below `high`.
//
// One more call available lowers nobody by more than one (the paradox of Alabama; never with equal
// weights and unchanged `holds`, unless the lows do not fit). Weights are told apart down to 10^-12
// of the largest. O(n log n).
//
// Where shares are below one call, somebody gets none for as long as the claims stay the same:
// taking turns is the business of whoever calls this again and again.
std::vector<Calls> Apportion(Calls available, const std::vector<Claim>& claims);

}  // namespace plimsoll::internal
