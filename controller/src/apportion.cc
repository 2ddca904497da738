#include "controller/src/apportion.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include "plimsoll/core/check.h"

namespace plimsoll::internal {
namespace {

// Below this part of the largest weight, level * weight would drown in rounding.
constexpr double kWeightMin = 1e-12;
constexpr double kFractionGrain = 16;
constexpr double kSumNoise = 1e-6;

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
  return corners;
}

// The last corner at which the shares sum to no more than `total`; 0 if there is none.
double CornerBelow(double total, const std::vector<Slope>& slopes) {
  std::vector<double> corners = Corners(slopes);
  auto first = corners.begin();
  auto last = corners.end();
  while (first < last) {
    const auto middle = first + (last - first) / 2;
    std::nth_element(first, middle, last);
    if (SumAt(slopes, *middle) <= total) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first == corners.begin() ? 0 : *(first - 1);
}

// The level at which the shares sum to `total`, which lies between the sums of low and high. The
// sum is linear between two corners: search the corner, then solve. Within the last piece all sums
// are made afresh, because a running difference would lose the small weights.
double FindLevel(double total, const std::vector<Slope>& slopes) {
  const double corner = CornerBelow(total, slopes);
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

using Bound = Calls Claim::*;
using Indexes = std::vector<std::size_t>;

double LargestWeight(const std::vector<Claim>& claims, const Indexes& members) {
  double largest = 0;
  for (std::size_t i : members) largest = std::max(largest, claims[i].weight);
  return largest;
}

// Sets the shares of the members to clamp(level * weight, low, high), summing to `total`.
void Fill(double total, const std::vector<Claim>& claims, const Indexes& members, Bound low,
          Bound high, std::vector<double>& shares) {
  const double largest = LargestWeight(claims, members);
  std::vector<Slope> slopes;
  slopes.reserve(members.size());
  for (std::size_t i : members) {
    const Claim& claim = claims[i];
    if (claim.weight > 0) {
      const double weight = std::max(claim.weight / largest, kWeightMin);
      slopes.push_back({weight, static_cast<double>(claim.*low), static_cast<double>(claim.*high)});
    } else {
      total -= claim.low;
      shares[i] = claim.low;
    }
  }
  const double level = FindLevel(total, slopes);
  std::size_t next = 0;
  for (std::size_t i : members) {
    if (claims[i].weight > 0) shares[i] = slopes[next++].At(level);
  }
}

// The class with index 0 is served first.
std::vector<Indexes> MakeClasses(const std::vector<Claim>& claims) {
  std::map<int, Indexes> classes;
  Indexes* members = nullptr;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (members == nullptr || claims[i].priority != claims[i - 1].priority) {
      members = &classes[claims[i].priority];
    }
    members->push_back(i);
  }
  std::vector<Indexes> result;
  result.reserve(classes.size());
  for (auto& [priority, indexes] : classes) result.push_back(std::move(indexes));
  return result;
}

// What a claim may get up to `bound`.
std::int64_t UpTo(const Claim& claim, Bound bound) {
  return claim.weight > 0 ? claim.*bound : claim.low;
}

std::int64_t SumUpTo(const std::vector<Claim>& claims, const Indexes& members, Bound bound) {
  std::int64_t sum = 0;
  for (std::size_t i : members) sum += UpTo(claims[i], bound);
  return sum;
}

void CutLows(std::int64_t left, const std::vector<Claim>& claims,
             const std::vector<Indexes>& classes, std::vector<double>& shares) {
  for (const Indexes& members : classes) {
    const std::int64_t need = SumUpTo(claims, members, &Claim::low);
    const std::int64_t given = std::min(need, left);
    for (std::size_t i : members) {
      shares[i] =
          need == 0 ? 0 : claims[i].low * static_cast<double>(given) / static_cast<double>(need);
    }
    left -= given;
  }
}

// `left` is what remains after the lows.
void FillClasses(std::int64_t left, const std::vector<Claim>& claims,
                 const std::vector<Indexes>& classes, std::vector<double>& shares) {
  for (const Indexes& members : classes) {
    const std::int64_t lows = SumUpTo(claims, members, &Claim::low);
    const std::int64_t more = SumUpTo(claims, members, &Claim::high) - lows;
    const std::int64_t given = std::min(more, left);
    left -= given;
    if (given > 0 && given < more) {
      Fill(static_cast<double>(lows + given), claims, members, &Claim::low, &Claim::high, shares);
      continue;
    }
    const Bound bound = given == 0 ? &Claim::low : &Claim::high;
    for (std::size_t i : members) shares[i] = static_cast<double>(UpTo(claims[i], bound));
  }
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

// One call more for the first `count`.
void RoundUp(std::int64_t count, std::vector<Fraction>& fractions, std::vector<Calls>& whole) {
  PLIMSOLL_CHECK(count >= 0 && count <= static_cast<std::int64_t>(fractions.size()),
                 "the shares do not sum to what is to be handed out");
  std::nth_element(fractions.begin(), fractions.begin() + count, fractions.end(),
                   [](const Fraction& a, const Fraction& b) { return a.ComesBefore(b); });
  for (auto it = fractions.begin(); it != fractions.begin() + count; ++it) ++whole[it->index];
}

void CheckClaim(const Claim& claim) {
  PLIMSOLL_CHECK(0 <= claim.low && claim.low <= claim.high && claim.high <= claim.top,
                 "a claim needs 0 <= low <= high <= top");
  PLIMSOLL_CHECK(claim.weight >= 0 && std::isfinite(claim.weight),
                 "a claim needs a finite weight >= 0");
}

}  // namespace

std::vector<double> RealShares(Calls available, const std::vector<Claim>& claims) {
  Indexes all(claims.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const Claim& claim : claims) CheckClaim(claim);
  const std::int64_t lows = SumUpTo(claims, all, &Claim::low);
  const std::int64_t highs = SumUpTo(claims, all, &Claim::high);
  const std::int64_t tops = SumUpTo(claims, all, &Claim::top);
  const std::int64_t total = std::clamp<std::int64_t>(available, 0, tops);
  std::vector<double> shares(claims.size());
  if (total < lows) {
    CutLows(total, claims, MakeClasses(claims), shares);
  } else if (total <= highs) {
    FillClasses(total - lows, claims, MakeClasses(claims), shares);
  } else {
    Fill(static_cast<double>(total), claims, all, &Claim::high, &Claim::top, shares);
  }
  return shares;
}

std::vector<Calls> MakeWhole(const std::vector<double>& shares, const std::vector<Claim>& claims) {
  std::vector<Calls> whole(shares.size());
  std::vector<Fraction> small;
  std::vector<Fraction> large;
  std::int64_t rest = std::llround(std::accumulate(shares.begin(), shares.end(), 0.0));
  double small_sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    whole[i] = static_cast<Calls>(std::floor(shares[i] + kShareNoise));
    rest -= whole[i];
    const double fraction = shares[i] - whole[i];
    if (fraction <= kShareNoise) continue;
    if (whole[i] == 0) small_sum += fraction;
    (whole[i] == 0 ? small : large)
        .push_back({i, std::llround(kFractionGrain * fraction), claims[i].holds > whole[i]});
  }
  const auto smalls = static_cast<std::int64_t>(small.size());
  const std::int64_t units =
      std::clamp<std::int64_t>(std::llround(std::ceil(small_sum - kSumNoise)),
                               std::max<std::int64_t>(0, rest - std::ssize(large)),
                               std::max<std::int64_t>(0, std::min(smalls, rest)));
  RoundUp(units, small, whole);
  RoundUp(rest - units, large, whole);
  return whole;
}

std::vector<Calls> Apportion(Calls available, const std::vector<Claim>& claims) {
  return MakeWhole(RealShares(available, claims), claims);
}

}  // namespace plimsoll::internal
