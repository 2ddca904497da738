#pragma once

#include <cstddef>
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
  int priority = 0;   // classes are served in ascending order
};

// Divides `available` calls (negative counts as 0) among the claims: weighted max-min within each
// class of priority, by raising a common level until everything is handed out. In this order:
//
//   1. the lows do not fit:    class by class; in the first class whose lows do not fit, shares in
//                              proportion to the lows; nothing for the classes after it
//   2. the demands do not fit: the lows of all; then class by class up to `high`; in the first
//   class
//                              that this cannot fill, share = clamp(level * weight, low, high)
//   3. they do:                share = clamp(level * weight, high, top): headroom, whatever the
//   class
//
// A claim of weight 0 counts as low throughout. Weights are told apart down to 10^-12 of the
// largest. O(n log n).
std::vector<double> RealShares(Calls available, const std::vector<Claim>& claims);

// Makes shares whole. Everybody gets his share rounded down; what is left over is handed out one
// call each:
//
//   - first to the small, whose share is below one call: as many calls as their shares together,
//     rounded up, so that they always have one among them to take turns at;
//   - the rest by largest remainder.
//
// Fractions are compared in sixteenths, so that noise moves no call; among equals who holds that
// call now keeps it, then the smaller index wins. Never max(1, ...): the sum would exceed what is
// available. The result sums to the shares' sum, which must be within 0.5 of a whole number.
std::vector<Calls> MakeWhole(const std::vector<double>& shares, const std::vector<Claim>& claims);

// Both. The result, by index of the claim:
//
//   - sums to min(available, sum of top) exactly;
//   - lies between low and top, unless the lows do not fit: then between 0 and low;
//   - is less than 1 away from the share;
//   - does not change when it is handed in again as `holds`;
//   - does not grow by a larger `high` once it is below `high`.
//
// One more call available lowers nobody by more than one (the paradox of Alabama; never with equal
// weights and unchanged `holds` in one class, unless the lows do not fit).
//
// Where shares are below one call, somebody gets none for as long as the claims stay the same:
// turns.h.
std::vector<Calls> Apportion(Calls available, const std::vector<Claim>& claims);

// Shares so close below a whole number are that number.
inline constexpr double kShareNoise = 1e-9;

}  // namespace plimsoll::internal
