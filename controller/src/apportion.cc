#include "controller/src/apportion.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "plimsoll/core/check.h"

namespace plimsoll::internal {
namespace {

// Below this part of the largest weight, level * weight would drown in rounding.
constexpr double kWeightMin = 1e-12;
constexpr double kFractionGrain = 16;

// Where the level takes a share from and where it ends.
struct Slope {
  double weight;
  double low;
  double high;

  double begin() const { return low / weight; }
  double end() const { return high / weight; }
  double At(double level) const { return std::clamp(level * weight, low, high); }
};

double SumAt(const std::vector<Slope>& slopes, double level) {
  double sum = 0;
  for (const Slope& slope : slopes) sum += slope.At(level);
  return sum;
}

std::vector<double> Corners(const std::vector<Slope>& slopes) {
  std::vector<double> corners;
  corners.reserve(2 * slopes.size());
  for (const Slope& slope : slopes) {
    corners.push_back(slope.begin());
    corners.push_back(slope.end());
  }
  std::sort(corners.begin(), corners.end());
  return corners;
}

// The level at which the shares sum to `total`, which lies between the sums of low and high. The
// sum is linear between two corners: search the corner, then solve. Within the last piece all sums
// are made afresh, because a running difference would lose the small weights.
double FindLevel(double total, const std::vector<Slope>& slopes) {
  const std::vector<double> corners = Corners(slopes);
  const auto above = std::partition_point(
      corners.begin(), corners.end(), [&](double level) { return SumAt(slopes, level) <= total; });
  const double corner = above == corners.begin() ? 0 : *(above - 1);
  double fixed = 0;
  double open_weight = 0;
  for (const Slope& slope : slopes) {
    if (slope.begin() <= corner && corner < slope.end()) {
      open_weight += slope.weight;
    } else {
      fixed += slope.At(corner);
    }
  }
  return open_weight > 0 ? (total - fixed) / open_weight : corner;
}

double LargestWeight(const std::vector<Claim>& claims) {
  double largest = 0;
  for (const Claim& claim : claims) largest = std::max(largest, claim.weight);
  return largest;
}

using Bound = Calls Claim::*;

// clamp(level * weight, low, high), summing to `total`. Claims without weight get their `low`
// proper, whatever the bounds.
std::vector<double> Fill(double total, const std::vector<Claim>& claims, Bound low, Bound high) {
  const double largest = LargestWeight(claims);
  std::vector<double> shares(claims.size());
  std::vector<Slope> slopes;
  slopes.reserve(claims.size());
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = claims[i];
    shares[i] = claim.low;
    if (claim.weight > 0) {
      const double weight = std::max(claim.weight / largest, kWeightMin);
      slopes.push_back({weight, static_cast<double>(claim.*low), static_cast<double>(claim.*high)});
    } else {
      total -= claim.low;
    }
  }
  const double level = FindLevel(total, slopes);
  std::size_t next = 0;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (claims[i].weight > 0) shares[i] = slopes[next++].At(level);
  }
  return shares;
}

std::vector<double> InProportionToLow(double total, double lows, const std::vector<Claim>& claims) {
  std::vector<double> shares;
  shares.reserve(claims.size());
  for (const Claim& claim : claims) shares.push_back(claim.low * total / lows);
  return shares;
}

struct Fraction {
  std::size_t index;
  std::int64_t grains;
  bool held;

  bool ComesBefore(const Fraction& other) const {
    if (grains != other.grains) return grains > other.grains;
    if (held != other.held) return held;
    return index < other.index;
  }
};

// Largest remainder. `total` is the sum of the shares, which are within rounding of it.
std::vector<Calls> MakeWhole(std::int64_t total, const std::vector<double>& shares,
                             const std::vector<Claim>& claims) {
  std::vector<Calls> whole(shares.size());
  std::vector<Fraction> fractions;
  std::int64_t rest = total;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    whole[i] = static_cast<Calls>(std::floor(shares[i]));
    rest -= whole[i];
    const double fraction = shares[i] - whole[i];
    if (fraction > 0) {
      fractions.push_back({i, std::llround(kFractionGrain * fraction), claims[i].holds > whole[i]});
    }
  }
  PLIMSOLL_CHECK(rest >= 0 && rest <= static_cast<std::int64_t>(fractions.size()),
                 "the shares do not sum to what is to be handed out");
  std::nth_element(fractions.begin(), fractions.begin() + rest, fractions.end(),
                   [](const Fraction& a, const Fraction& b) { return a.ComesBefore(b); });
  for (auto it = fractions.begin(); it != fractions.begin() + rest; ++it) ++whole[it->index];
  return whole;
}

void CheckClaim(const Claim& claim) {
  PLIMSOLL_CHECK(0 <= claim.low && claim.low <= claim.high && claim.high <= claim.top,
                 "a claim needs 0 <= low <= high <= top");
  PLIMSOLL_CHECK(claim.weight >= 0 && std::isfinite(claim.weight),
                 "a claim needs a finite weight >= 0");
}

}  // namespace

std::vector<Calls> Apportion(Calls available, const std::vector<Claim>& claims) {
  std::int64_t lows = 0;
  std::int64_t highs = 0;
  std::int64_t tops = 0;
  for (const Claim& claim : claims) {
    CheckClaim(claim);
    lows += claim.low;
    highs += claim.weight > 0 ? claim.high : claim.low;
    tops += claim.weight > 0 ? claim.top : claim.low;
  }
  const std::int64_t total = std::clamp<std::int64_t>(available, 0, tops);
  const auto sum = static_cast<double>(total);
  if (total < lows) {
    return MakeWhole(total, InProportionToLow(sum, static_cast<double>(lows), claims), claims);
  }
  return total <= highs ? MakeWhole(total, Fill(sum, claims, &Claim::low, &Claim::high), claims)
                        : MakeWhole(total, Fill(sum, claims, &Claim::high, &Claim::top), claims);
}

}  // namespace plimsoll::internal
