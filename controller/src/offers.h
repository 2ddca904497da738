#pragma once

#include <cstdint>
#include <vector>

#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// One session, between what it holds and what it should have.
struct OfferRow {
  Calls current = 0;    // the limit sent last, or what its law and ceiling leave of it
  Calls share = 0;      // its part by apportionment
  Calls low = 0;        // as in its claim
  Calls high = 0;       // as in its claim
  bool wants = true;    // it has calls to make
  bool settled = true;  // its last raise is the dwell ago, so it may be lowered again
  Calls offer = 0;      // the result
};

struct OfferTerms {
  Calls available = 0;     // to be offered; the shares sum to at most this
  Calls join_reserve = 0;  // beside it, for what is urgent
  // How many calls may be under way from one session to another, and how many are: lowered, and
  // not yet given back.
  Calls transit_max = 1;
  std::int64_t in_transit = 0;
  bool overbooked = false;  // the reservations exceed the quota
};

// Sets `offer` of every row: the limit to send now on the way from `current` to `share`, such that
// a fleet whose shares only waver is sent nothing. What lies above its share is lowered only for
// somebody who is raised by it, the largest excess first, and headroom before what is in use:
//
//   wanted for                              is taken from
//   1  its low; a first call; a deficit     any excess, however many calls are under way
//   2  what it can use, if it gains enough  headroom; settled excess in use; while transit allows
//   3  headroom, if it gains enough         settled excess, while transit allows
//
// It gains enough by max(2, 10 % of what it holds). Raises that nobody pays for are always made,
// and raises that nobody can pay for yet are not offered: the offers sum to at most what is
// available, what is urgent may spend the join reserve too, and what is above that already (a cut)
// comes down at once. If even the reservations exceed the quota, every excess is lowered at once.
//
// Repeated, with offers granted, the offers come within the dead band of the shares. Pure.
// O(n log n).
void MakeOffers(std::vector<OfferRow>& rows, const OfferTerms& terms);

}  // namespace plimsoll::internal
