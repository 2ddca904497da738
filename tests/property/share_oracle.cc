#include "tests/property/share_oracle.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

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

double SumOf(const std::vector<Claim>& claims, Bound bound) {
  double sum = 0;
  for (const Claim& claim : claims) sum += claim.weight > 0 ? claim.*bound : claim.low;
  return sum;
}

std::vector<double> CutLows(double total, const std::vector<Claim>& claims) {
  const double lows = SumOf(claims, &Claim::low);
  std::vector<double> shares;
  for (const Claim& claim : claims) shares.push_back(lows > 0 ? claim.low * total / lows : 0);
  return shares;
}

std::vector<Claim> ClassOf(const std::vector<Claim>& claims, int priority) {
  std::vector<Claim> members;
  for (const Claim& claim : claims) {
    if (claim.priority == priority) members.push_back(claim);
  }
  return members;
}

constexpr int kClasses = 8;

// Class after class: its part of what is `left`, which is reduced, divided by `divide`.
template <typename Divide>
std::vector<double> ClassByClass(const std::vector<Claim>& claims, Divide divide) {
  std::vector<double> shares(claims.size());
  for (int priority = 0; priority < kClasses; ++priority) {
    const std::vector<double> part = divide(ClassOf(claims, priority));
    std::size_t next = 0;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (claims[i].priority == priority) shares[i] = part[next++];
    }
  }
  return shares;
}

}  // namespace

std::vector<double> ObviousShares(Calls available, const std::vector<Claim>& claims) {
  const double lows = SumOf(claims, &Claim::low);
  const double total = std::min<double>(std::max(0, available), SumOf(claims, &Claim::top));
  if (total > SumOf(claims, &Claim::high)) {
    return Search(total, claims, &Claim::high, &Claim::top);
  }
  double left = total < lows ? total : total - lows;
  return ClassByClass(claims, [&](const std::vector<Claim>& members) {
    const double low = SumOf(members, &Claim::low);
    const double wanted = total < lows ? low : SumOf(members, &Claim::high) - low;
    const double given = std::min(left, wanted);
    left -= given;
    return total < lows ? CutLows(given, members)
                        : Search(low + given, members, &Claim::low, &Claim::high);
  });
}

std::vector<Calls> DealOneByOne(Calls available, const std::vector<Claim>& claims) {
  std::vector<Calls> result(claims.size(), 0);
  const auto deal = [&](Bound bound, const std::vector<int>& classes) {
    while (available > 0) {
      std::size_t least = claims.size();
      for (std::size_t i = 0; i < claims.size(); ++i) {
        const bool served =
            std::find(classes.begin(), classes.end(), claims[i].priority) != classes.end();
        if (!served || result[i] >= claims[i].*bound) continue;
        if (least == claims.size() || result[i] < result[least]) least = i;
      }
      if (least == claims.size()) break;
      ++result[least];
      --available;
    }
  };
  std::vector<int> all(kClasses);
  std::iota(all.begin(), all.end(), 0);
  deal(&Claim::low, all);
  for (int priority : all) deal(&Claim::high, {priority});
  deal(&Claim::top, all);
  return result;
}

}  // namespace plimsoll::internal
