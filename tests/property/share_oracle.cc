#include "tests/property/share_oracle.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace plimsoll::internal {
namespace {

double Sum(const std::vector<double>& shares) {
  double sum = 0;
  for (double share : shares) sum += share;
  return sum;
}

using Bound = Calls Claim::*;

std::vector<double> AtLevel(double level, const std::vector<Claim>& claims, Bound low, Bound high) {
  std::vector<double> shares;
  shares.reserve(claims.size());
  for (const Claim& claim : claims) {
    shares.push_back(claim.weight > 0
                         ? std::clamp<double>(level * claim.weight, claim.*low, claim.*high)
                         : claim.low);
  }
  return shares;
}

std::vector<double> Search(double total, const std::vector<Claim>& claims, Bound low, Bound high) {
  double below = 0;
  double above = 1;
  for (const Claim& claim : claims) {
    if (claim.weight > 0) above = std::max(above, claim.*high / claim.weight);
  }
  for (int i = 0; i < 100; ++i) {
    const double level = below + (above - below) / 2;
    (Sum(AtLevel(level, claims, low, high)) <= total ? below : above) = level;
  }
  return AtLevel(below, claims, low, high);
}

Calls Least(std::int64_t a, std::int64_t b) { return static_cast<Calls>(std::min(a, b)); }

}  // namespace

std::vector<double> ObviousShares(Calls available, const std::vector<Claim>& claims) {
  std::int64_t lows = 0;
  std::int64_t highs = 0;
  std::int64_t tops = 0;
  for (const Claim& claim : claims) {
    lows += claim.low;
    highs += claim.weight > 0 ? claim.high : claim.low;
    tops += claim.weight > 0 ? claim.top : claim.low;
  }
  const double total = std::max(0, Least(available, tops));
  if (total < static_cast<double>(lows)) {
    std::vector<double> shares;
    shares.reserve(claims.size());
    for (const Claim& claim : claims) {
      shares.push_back(claim.low * total / static_cast<double>(lows));
    }
    return shares;
  }
  return available <= highs ? Search(total, claims, &Claim::low, &Claim::high)
                            : Search(total, claims, &Claim::high, &Claim::top);
}

std::vector<Calls> DealOneByOne(Calls available, const std::vector<Claim>& claims) {
  std::vector<Calls> result(claims.size(), 0);
  for (const Bound bound : {&Claim::low, &Claim::high, &Claim::top}) {
    while (available > 0) {
      std::size_t least = claims.size();
      for (std::size_t i = 0; i < claims.size(); ++i) {
        if (result[i] >= claims[i].*bound) continue;
        if (least == claims.size() || result[i] < result[least]) least = i;
      }
      if (least == claims.size()) break;
      ++result[least];
      --available;
    }
  }
  return result;
}

}  // namespace plimsoll::internal
