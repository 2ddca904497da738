#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/src/apportion.h"
#include "gtest/gtest.h"
#include "plimsoll/core/random.h"
#include "tests/property/share_oracle.h"

namespace plimsoll::internal {
namespace {

constexpr std::uint64_t kSeeds = 5'000;
constexpr double kGrain = 1.0 / 16;
constexpr double kNoise = 1e-6;

using Divider = std::function<std::vector<Calls>(Calls, const std::vector<Claim>&)>;

struct Input {
  Calls available = 0;
  std::vector<Claim> claims;

  bool equal_weights() const {
    return std::all_of(claims.begin(), claims.end(),
                       [](const Claim& claim) { return claim.weight == 1; });
  }
  bool lows_fit() const {
    std::int64_t lows = 0;
    for (const Claim& claim : claims) lows += claim.low;
    return lows <= available;
  }
};

template <std::size_t N>
auto Choose(Random& random, const double (&values)[N]) {
  return values[random.Below(N)];
}
Calls Draw(Random& random, Calls below) {
  return static_cast<Calls>(random.Below(static_cast<std::uint64_t>(below)));
}

Claim DrawClaim(Random& random, bool equal_weights, bool classes) {
  constexpr double weights[] = {0, 0.1, 0.5, 1, 1, 1, 3, 7.3, 1000};
  Claim claim;
  if (!equal_weights) claim.weight = Choose(random, weights);
  claim.low = random.Chance(0.5) ? 0 : Draw(random, 6);
  claim.high = claim.low + (random.Chance(0.3) ? 0 : Draw(random, random.Chance(0.1) ? 500 : 25));
  claim.top = claim.high + (random.Chance(0.3) ? 0 : Draw(random, 20));
  if (classes) claim.priority = Draw(random, 3);
  claim.holds = random.Chance(0.3) ? 0 : Draw(random, claim.top + 2);
  return claim;
}

Input DrawInput(std::uint64_t seed) {
  Random random(seed);
  Input input;
  const bool equal_weights = random.Chance(0.4);
  const bool classes = random.Chance(0.4);
  std::int64_t tops = 0;
  for (Calls n = Draw(random, 25); n > 0; --n) {
    input.claims.push_back(DrawClaim(random, equal_weights, classes));
    tops += input.claims.back().top;
  }
  input.available = Draw(random, static_cast<Calls>(tops) + 5);
  return input;
}

std::int64_t Sum(const std::vector<Calls>& result) {
  return std::accumulate(result.begin(), result.end(), std::int64_t{0});
}

// Each property returns what is wrong with it, or nothing.

std::string CheckSum(const Divider& divide, const Input& input) {
  std::int64_t tops = 0;
  for (const Claim& claim : input.claims) tops += claim.weight > 0 ? claim.top : claim.low;
  const std::int64_t expected = std::min<std::int64_t>(input.available, tops);
  const std::int64_t sum = Sum(divide(input.available, input.claims));
  return sum == expected ? "" : absl::StrCat("sum is ", sum, " instead of ", expected);
}

std::string CheckBounds(const Divider& divide, const Input& input) {
  const std::vector<Calls> result = divide(input.available, input.claims);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Calls low = input.lows_fit() ? input.claims[i].low : 0;
    const Calls top = input.lows_fit() ? input.claims[i].top : input.claims[i].low;
    if (result[i] < low || result[i] > top) return absl::StrCat("bounds of claim ", i);
  }
  return "";
}

std::string CheckNearShare(const Divider& divide, const Input& input) {
  const std::vector<Calls> result = divide(input.available, input.claims);
  const std::vector<double> shares = ObviousShares(input.available, input.claims);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (std::abs(result[i] - shares[i]) >= 1 + kNoise) {
      return absl::StrCat("claim ", i, " is far from its share of ", shares[i]);
    }
  }
  return "";
}

// Among those below one call, and among all others.
std::string CheckLargestRemainder(const Divider& divide, const Input& input) {
  const std::vector<Calls> result = divide(input.available, input.claims);
  const std::vector<double> shares = ObviousShares(input.available, input.claims);
  for (const bool small : {true, false}) {
    double smallest_up = 1;
    double largest_down = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      if ((shares[i] < 1 - kNoise) != small) continue;
      const double over = result[i] - shares[i];
      if (over > kNoise) smallest_up = std::min(smallest_up, 1 - over);
      if (over < -kNoise) largest_down = std::max(largest_down, -over);
    }
    if (smallest_up < largest_down - kGrain - kNoise) {
      return absl::StrCat("fraction ", smallest_up, " rounded up, but not ", largest_down);
    }
  }
  return "";
}

// Those below one call have as many among them as their shares together, rounded up.
std::string CheckSmall(const Divider& divide, const Input& input) {
  const std::vector<Calls> result = divide(input.available, input.claims);
  const std::vector<double> shares = ObviousShares(input.available, input.claims);
  double share = 0;
  Calls calls = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (shares[i] <= kNoise || shares[i] >= 1 - kNoise) continue;
    share += shares[i];
    calls += result[i];
  }
  return std::abs(std::ceil(share - kNoise) - calls) < 0.5
             ? ""
             : absl::StrCat("shares of ", share, " together got ", calls);
}

std::string CheckMonotone(const Divider& divide, const Input& input) {
  const std::vector<Calls> less = divide(input.available, input.claims);
  const std::vector<Calls> more = divide(input.available + 1, input.claims);
  const bool strict = input.equal_weights() && input.lows_fit() &&
                      std::all_of(input.claims.begin(), input.claims.end(),
                                  [](const Claim& claim) { return claim.holds == 0; });
  for (std::size_t i = 0; i < less.size(); ++i) {
    if (more[i] < less[i] - (strict ? 0 : 1)) {
      return absl::StrCat("claim ", i, " falls from ", less[i], " to ", more[i]);
    }
  }
  return "";
}

std::string CheckDeterministic(const Divider& divide, const Input& input) {
  return divide(input.available, input.claims) == divide(input.available, input.claims)
             ? ""
             : "two calls give two results";
}

std::string CheckSticky(const Divider& divide, const Input& input) {
  const std::vector<Calls> result = divide(input.available, input.claims);
  Input again = input;
  for (std::size_t i = 0; i < result.size(); ++i) again.claims[i].holds = result[i];
  return divide(again.available, again.claims) == result ? "" : "moves without a reason";
}

// Under another order of the claims only ties may fall differently.
std::string CheckPermutation(const Divider& divide, const Input& input) {
  const std::size_t n = input.claims.size();
  std::vector<Claim> reversed(input.claims.rbegin(), input.claims.rend());
  const std::vector<Calls> one = divide(input.available, input.claims);
  const std::vector<Calls> other = divide(input.available, reversed);
  const std::vector<double> shares = ObviousShares(input.available, input.claims);
  for (const bool small : {true, false}) {
    double smallest = 1;
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if ((shares[i] < 1 - kNoise) != small || one[i] == other[n - 1 - i]) continue;
      const double fraction = shares[i] - std::floor(shares[i]);
      smallest = std::min(smallest, fraction);
      largest = std::max(largest, fraction);
    }
    if (largest - smallest > kGrain + kNoise) {
      return absl::StrCat("fractions ", smallest, " and ", largest, " changed places");
    }
  }
  return "";
}

std::string CheckOverstating(const Divider& divide, const Input& input) {
  const std::vector<Calls> result = divide(input.available, input.claims);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i] >= input.claims[i].high) continue;
    Input loud = input;
    loud.claims[i].high += 1000;
    loud.claims[i].top += 1000;
    if (divide(loud.available, loud.claims)[i] > result[i]) {
      return absl::StrCat("claim ", i, " gains by overstating");
    }
  }
  return "";
}

std::string CheckDealing(const Divider& divide, const Input& input) {
  if (!input.equal_weights() || !input.lows_fit()) return "";
  Input fresh = input;
  for (Claim& claim : fresh.claims) claim.holds = 0;
  return divide(fresh.available, fresh.claims) == DealOneByOne(fresh.available, fresh.claims)
             ? ""
             : "differs from dealing one by one";
}

struct Property {
  const char* name;
  std::string (*check)(const Divider&, const Input&);
};
constexpr Property kProperties[] = {
    {"Sum", CheckSum},
    {"Bounds", CheckBounds},
    {"NearShare", CheckNearShare},
    {"LargestRemainder", CheckLargestRemainder},
    {"Small", CheckSmall},
    {"Monotone", CheckMonotone},
    {"Deterministic", CheckDeterministic},
    {"Sticky", CheckSticky},
    {"Permutation", CheckPermutation},
    {"Overstating", CheckOverstating},
    {"Dealing", CheckDealing},
};

std::string Describe(const Input& input, const Divider& divide) {
  return absl::StrCat(
      "available ", input.available, "\n",
      absl::StrJoin(input.claims, "\n",
                    [](std::string* out, const Claim& claim) {
                      absl::StrAppend(out, "weight ", claim.weight, " low ", claim.low, " high ",
                                      claim.high, " top ", claim.top, " holds ", claim.holds,
                                      " priority ", claim.priority);
                    }),
      "\nresult ", absl::StrJoin(divide(input.available, input.claims), " "), "\nshares ",
      absl::StrJoin(ObviousShares(input.available, input.claims), " "));
}

class ApportionPropertyTest : public testing::TestWithParam<Property> {};

TEST_P(ApportionPropertyTest, HoldsOnRandomInputs) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Input input = DrawInput(seed);
    ASSERT_EQ(GetParam().check(Apportion, input), "") << "seed " << seed << "\n"
                                                      << Describe(input, Apportion);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ApportionPropertyTest, testing::ValuesIn(kProperties),
                         [](const auto& instance) { return std::string(instance.param.name); });

// Wrong ways to divide. The properties must catch every one.

std::vector<Calls> Round(const std::vector<double>& shares, double (*rounded)(double)) {
  std::vector<Calls> result;
  result.reserve(shares.size());
  for (double share : shares) result.push_back(static_cast<Calls>(rounded(share)));
  return result;
}

std::vector<Calls> RoundDown(Calls available, const std::vector<Claim>& claims) {
  return Round(ObviousShares(available, claims), [](double x) { return std::floor(x + kNoise); });
}
std::vector<Calls> RoundToNearest(Calls available, const std::vector<Claim>& claims) {
  return Round(ObviousShares(available, claims), [](double x) { return std::floor(x + 0.5); });
}
std::vector<Calls> RoundUp(Calls available, const std::vector<Claim>& claims) {
  return Round(ObviousShares(available, claims), [](double x) { return std::ceil(x - kNoise); });
}
std::vector<Calls> AtLeastOne(Calls available, const std::vector<Claim>& claims) {
  return Round(ObviousShares(available, claims),
               [](double x) { return std::max(1.0, std::floor(x + kNoise)); });
}

std::vector<Calls> RestToTheFirst(Calls available, const std::vector<Claim>& claims) {
  const std::vector<double> shares = ObviousShares(available, claims);
  std::vector<Calls> result = RoundDown(available, claims);
  std::int64_t rest = Sum(Apportion(available, claims)) - Sum(result);
  for (std::size_t i = 0; i < result.size() && rest > 0; ++i) {
    if (shares[i] <= result[i] + kNoise) continue;
    ++result[i];
    --rest;
  }
  return result;
}

std::vector<Calls> RestToOneClaim(Calls available, const std::vector<Claim>& claims) {
  std::vector<Calls> result = RoundDown(available, claims);
  const std::int64_t rest = Sum(Apportion(available, claims)) - Sum(result);
  if (!result.empty()) result.back() += static_cast<Calls>(rest);
  return result;
}

// The input changed by `change`, then divided properly.
Divider After(std::function<void(Claim&)> change) {
  return [change = std::move(change)](Calls available, std::vector<Claim> claims) {
    for (Claim& claim : claims) change(claim);
    return Apportion(available, claims);
  };
}

std::vector<Calls> HoldersGiveWay(Calls available, std::vector<Claim> claims) {
  Calls most = 0;
  for (const Claim& claim : claims) most = std::max(most, claim.holds);
  for (Claim& claim : claims) claim.holds = most - claim.holds;
  return Apportion(available, claims);
}

struct Mutant {
  const char* name;
  Divider divide;
};

class ApportionMutantTest : public testing::TestWithParam<Mutant> {};

TEST_P(ApportionMutantTest, IsCaught) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const Property& property : kProperties) {
      const std::string fault = property.check(GetParam().divide, DrawInput(seed));
      if (fault.empty()) continue;
      RecordProperty("caught_by", property.name);
      return;
    }
  }
  FAIL() << "no property noticed";
}

INSTANTIATE_TEST_SUITE_P(
    All, ApportionMutantTest,
    testing::Values(Mutant{"RoundDown", RoundDown}, Mutant{"RoundToNearest", RoundToNearest},
                    Mutant{"RoundUp", RoundUp}, Mutant{"AtLeastOne", AtLeastOne},
                    Mutant{"RestToTheFirst", RestToTheFirst},
                    Mutant{"RestToOneClaim", RestToOneClaim},
                    Mutant{"HoldersGiveWay", HoldersGiveWay},
                    Mutant{"WeightsIgnored", After([](Claim& claim) { claim.weight = 1; })},
                    Mutant{"PriorityIgnored", After([](Claim& claim) { claim.priority = 0; })},
                    Mutant{"PriorityReversed",
                           After([](Claim& claim) { claim.priority = 7 - claim.priority; })},
                    Mutant{"LowsIgnored", After([](Claim& claim) { claim.low = 0; })},
                    Mutant{"DemandIgnored", After([](Claim& claim) { claim.high = claim.top; })},
                    Mutant{"HeadroomKept", After([](Claim& claim) { claim.top = claim.high; })}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(MutantTest, TheMutantsRoundAsTheirNamesSay) {
  const std::vector<Claim> eight(8, {1, 0, 20, 20});
  const std::vector<Claim> many(64, {1, 0, 20, 20});
  EXPECT_EQ(Sum(RoundDown(50, eight)), 48);
  EXPECT_EQ(Sum(RoundUp(50, eight)), 56);
  EXPECT_EQ(Sum(RoundToNearest(50, many)), 64);
  EXPECT_EQ(Sum(AtLeastOne(50, many)), 64);
}

}  // namespace
}  // namespace plimsoll::internal
