#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "plimsoll/core/random.h"
#include "tests/property/share_oracle.h"
#include "tests/support/allocation_fleet.h"

namespace plimsoll::internal {
namespace {

using ::plimsoll::testing::AllocationFleet;

constexpr std::uint64_t kSeeds = 1'500;
constexpr double kNoise = 1e-6;

struct Instance {
  std::string service;
  double demand = 0;
};
struct Input {
  Policy policy;
  std::vector<Instance> instances;
};

template <typename Value, std::size_t N>
Value Choose(Random& random, const Value (&values)[N]) {
  return values[random.Below(N)];
}

ServiceShare DrawShare(Random& random) {
  ServiceShare share;
  share.weight = Choose(random, {1.0, 1.0, 2.0, 5.0});
  share.minimum = Choose(random, {0, 0, 2, 5, 10});
  if (random.Chance(0.3)) share.maximum = share.minimum + Choose(random, {0, 1, 20});
  share.priority = Choose(random, {0, 0, 1, 2});
  share.lend = Choose(random, {1.0, 1.0, 0.5, 0.0});
  return share;
}

Input DrawInput(std::uint64_t seed) {
  Random random(seed);
  Input input;
  input.policy = AllocationFleet::Plain(Choose(random, {1, 3, 7, 20, 50, 200, 1000}));
  input.policy.join_reserve = Choose(random, {0, 0, 1, 2});
  input.policy.algorithm.ceiling = Choose(random, {5, 20, 40});
  const std::uint64_t services = 1 + random.Below(5);
  for (std::uint64_t s = 0; s < services; ++s) {
    const std::string name = absl::StrCat("s", s);
    if (random.Chance(0.7)) input.policy.services[ServiceId(name)] = DrawShare(random);
    for (std::uint64_t i = 1 + random.Below(12); i > 0; --i) {
      input.instances.push_back({name, Choose(random, {0.0, 1.0, 1.0, 3.0, 8.0, 20.0, 60.0})});
    }
  }
  return input;
}

AllocationFleet MakeFleet(const Input& input) {
  AllocationFleet fleet(input.policy);
  for (const Instance& one : input.instances) fleet.Add(one.service, one.demand);
  return fleet;
}

// What the services may claim, by definition.
struct Oracle {
  explicit Oracle(const Input& input)
      : available(std::max(0, *input.policy.quota - *input.policy.join_reserve)) {
    const Calls ceiling = input.policy.algorithm.ceiling;
    double weights = 0;
    bool some_idle = false;
    for (const Instance& one : input.instances) {
      Claim& claim = claims[one.service];
      const bool idle = one.demand == 0;
      claim.high += idle ? 1 : std::min(static_cast<Calls>(one.demand * 1.1 + 1e-9) + 1, ceiling);
      claim.top += ceiling;
      claim.low += 1;
      some_idle = some_idle || idle;
    }
    for (auto& [name, claim] : claims) weights += ShareOf(input, name).weight;
    for (auto& [name, claim] : claims) {
      const ServiceShare share = ShareOf(input, name);
      claim.weight = share.weight;
      claim.priority = share.priority;
      claim.top = std::min(claim.top, share.maximum.value_or(kCallsMax));
      claim.high = std::min(claim.high, claim.top);
      const auto kept =
          static_cast<Calls>((1 - share.lend) * *input.policy.quota * share.weight / weights);
      claim.low = std::max({std::min(claim.low, claim.high), std::min(share.minimum, claim.high),
                            std::min(kept, claim.top)});
      claim.high = std::max(claim.high, claim.low);
      lows += claim.low;
      tops += claim.top;
    }
    some_idle_and_scarce = some_idle && lows > available;
  }
  static ServiceShare ShareOf(const Input& input, const std::string& service) {
    const auto found = input.policy.services.find(ServiceId(service));
    return found == input.policy.services.end() ? ServiceShare() : found->second;
  }

  Calls available;
  std::map<std::string, Claim> claims;
  std::int64_t lows = 0;
  std::int64_t tops = 0;
  // Then lows depend on who wants nothing; only bounds are checked.
  bool some_idle_and_scarce = false;
};

// Shares of all instances, in their order.
using Divider = std::function<std::vector<Calls>(const Input&)>;

std::vector<Calls> ByAllocation(const Input& input) {
  AllocationFleet fleet = MakeFleet(input);
  fleet.Allocate();
  return fleet.Shares();
}

std::map<std::string, Calls> SumByService(const Input& input, const std::vector<Calls>& shares) {
  std::map<std::string, Calls> sums;
  for (std::size_t i = 0; i < shares.size(); ++i) sums[input.instances[i].service] += shares[i];
  return sums;
}

// Each property returns what is wrong with it, or nothing.

std::string CheckSum(const Divider& divide, const Input& input) {
  const Oracle oracle(input);
  std::int64_t sum = 0;
  for (Calls share : divide(input)) sum += share;
  const auto expected = std::min<std::int64_t>(oracle.available, oracle.tops);
  return sum == expected ? "" : absl::StrCat("sum is ", sum, " instead of ", expected);
}

std::string CheckBounds(const Divider& divide, const Input& input) {
  const std::vector<Calls> shares = divide(input);
  for (Calls share : shares) {
    if (share < 0 || share > input.policy.algorithm.ceiling) {
      return absl::StrCat("an instance gets ", share);
    }
  }
  const Oracle oracle(input);
  for (const auto& [name, sum] : SumByService(input, shares)) {
    if (sum > oracle.claims.at(name).top) return absl::StrCat(name, " gets ", sum);
  }
  return "";
}

std::string CheckMinima(const Divider& divide, const Input& input) {
  const Oracle oracle(input);
  if (oracle.lows > oracle.available || oracle.some_idle_and_scarce) return "";
  for (const auto& [name, sum] : SumByService(input, divide(input))) {
    if (sum < oracle.claims.at(name).low) return absl::StrCat(name, " gets only ", sum);
  }
  return "";
}

std::string CheckNearShare(const Divider& divide, const Input& input) {
  const Oracle oracle(input);
  if (oracle.some_idle_and_scarce) return "";
  std::vector<Claim> claims;
  for (const auto& [name, claim] : oracle.claims) claims.push_back(claim);
  const std::vector<double> real = ObviousShares(oracle.available, claims);
  std::size_t next = 0;
  for (const auto& [name, sum] : SumByService(input, divide(input))) {
    if (std::abs(sum - real[next]) >= 1 + kNoise) {
      return absl::StrCat(name, " gets ", sum, " instead of ", real[next]);
    }
    ++next;
  }
  return "";
}

// Nobody of a class is better off than another who wants more, and no class than one before it.
std::string CheckMaxMin(const Divider& divide, const Input& input) {
  const Oracle oracle(input);
  if (oracle.lows > oracle.available || oracle.some_idle_and_scarce) return "";
  const auto sums = SumByService(input, divide(input));
  for (const auto& [a, claim] : oracle.claims) {
    if (sums.at(a) >= claim.high - 1) continue;
    for (const auto& [b, other] : oracle.claims) {
      if (sums.at(b) <= other.low + 1) continue;
      if (other.priority > claim.priority) return absl::StrCat(b, " comes before ", a);
      if (other.priority < claim.priority) continue;
      if ((sums.at(b) - 1) / other.weight > (sums.at(a) + 1) / claim.weight) {
        return absl::StrCat(b, " is better off than ", a);
      }
    }
  }
  return "";
}

std::string CheckInProportionToLoad(const Divider& divide, const Input& input) {
  const std::vector<Calls> shares = divide(input);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    for (std::size_t k = 0; k < shares.size(); ++k) {
      const Instance& a = input.instances[i];
      const Instance& b = input.instances[k];
      if (Oracle::ShareOf(input, a.service).minimum > 0) continue;  // is spread by name
      if (a.service == b.service && a.demand > b.demand && shares[i] < shares[k] - 1) {
        return absl::StrCat("a load of ", a.demand, " gets ", shares[i], ", and ", b.demand,
                            " gets ", shares[k]);
      }
    }
  }
  return "";
}

std::string CheckSticky(const Divider& /*divide*/, const Input& input) {
  AllocationFleet fleet = MakeFleet(input);
  fleet.Allocate();
  const std::vector<Calls> first = fleet.Shares();
  for (int i = 0; i < fleet.size(); ++i) {
    fleet.member(i).sent.limit = first[static_cast<std::size_t>(i)];
  }
  fleet.Allocate();
  return fleet.Shares() == first ? "" : "moves without a reason";
}

std::string CheckDeterministic(const Divider& divide, const Input& input) {
  return divide(input) == divide(input) ? "" : "two calls give two results";
}

// What its instances cannot get anyway, a service does not get by wanting still more.
std::string CheckOverstating(const Divider& divide, const Input& input) {
  const Oracle oracle(input);
  if (oracle.lows > oracle.available || oracle.some_idle_and_scarce) return "";
  const auto before = SumByService(input, divide(input));
  const std::string& name = input.instances.front().service;
  const Claim& claim = oracle.claims.at(name);
  if (before.at(name) >= claim.high || before.at(name) < claim.low) return "";
  Input loud = input;
  for (Instance& one : loud.instances) {
    if (one.service == name && one.demand > 0) one.demand *= 10;
  }
  const ServiceShare share = Oracle::ShareOf(input, name);
  if (std::min(share.minimum, claim.high) < share.minimum) return "";  // its due is larger then
  const Calls after = SumByService(loud, divide(loud)).at(name);
  return after <= before.at(name)
             ? ""
             : absl::StrCat(name, " gains from ", before.at(name), " to ", after);
}

struct Property {
  const char* name;
  std::string (*check)(const Divider&, const Input&);
};
constexpr Property kProperties[] = {
    {"Sum", CheckSum},
    {"Bounds", CheckBounds},
    {"Minima", CheckMinima},
    {"NearShare", CheckNearShare},
    {"MaxMin", CheckMaxMin},
    {"InProportionToLoad", CheckInProportionToLoad},
    {"Sticky", CheckSticky},
    {"Deterministic", CheckDeterministic},
    {"Overstating", CheckOverstating},
};

std::string Describe(const Input& input) {
  std::string text =
      absl::StrCat("quota ", *input.policy.quota, " reserve ", *input.policy.join_reserve,
                   " ceiling ", input.policy.algorithm.ceiling, "\n");
  for (const auto& [service, share] : input.policy.services) {
    absl::StrAppend(&text, service.value, ": weight ", share.weight, " minimum ", share.minimum,
                    " maximum ", share.maximum.value_or(-1), " priority ", share.priority, " lend ",
                    share.lend, "\n");
  }
  for (const Instance& one : input.instances) {
    absl::StrAppend(&text, one.service, " ", one.demand, "; ");
  }
  return absl::StrCat(text, "\n", absl::StrJoin(ByAllocation(input), " "));
}

class AllocationPropertyTest : public ::testing::TestWithParam<Property> {};

TEST_P(AllocationPropertyTest, HoldsOnRandomInputs) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Input input = DrawInput(seed);
    ASSERT_EQ(GetParam().check(ByAllocation, input), "") << "seed " << seed << "\n"
                                                         << Describe(input);
  }
}

INSTANTIATE_TEST_SUITE_P(All, AllocationPropertyTest, ::testing::ValuesIn(kProperties),
                         [](const auto& instance) { return std::string(instance.param.name); });

// Wrong ways to divide. The properties must catch every one.

// The policy changed by `change`, then divided properly.
Divider After(std::function<void(Policy&)> change) {
  return [change = std::move(change)](Input input) {
    change(input.policy);
    return ByAllocation(input);
  };
}
Divider AfterShares(void (*change)(ServiceShare&)) {
  return After([change](Policy& policy) {
    for (auto& [service, share] : policy.services) change(share);
  });
}

// Every service for itself, as if it were alone.
std::vector<Calls> EachAlone(const Input& input) {
  std::vector<Calls> shares(input.instances.size());
  for (const auto& [name, claim] : Oracle(input).claims) {
    Input alone = input;
    std::erase_if(alone.instances, [&](const Instance& one) { return one.service != name; });
    const std::vector<Calls> part = ByAllocation(alone);
    std::size_t next = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (input.instances[i].service == name) shares[i] = part[next++];
    }
  }
  return shares;
}

std::vector<Calls> AtLeastOne(const Input& input) {
  std::vector<Calls> shares = ByAllocation(input);
  for (Calls& share : shares) share = std::max(1, share);
  return shares;
}

// One level: all instances of all services in one pot.
std::vector<Calls> OnePot(Input input) {
  for (Instance& one : input.instances) one.service = "all";
  return ByAllocation(input);
}

std::vector<Calls> LoadIgnored(Input input) {
  for (Instance& one : input.instances) one.demand = 60;
  return ByAllocation(input);
}

struct Mutant {
  const char* name;
  Divider divide;
};

class AllocationMutantTest : public ::testing::TestWithParam<Mutant> {};

TEST_P(AllocationMutantTest, IsCaught) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const Property& property : kProperties) {
      if (property.check(GetParam().divide, DrawInput(seed)).empty()) continue;
      RecordProperty("caught_by", property.name);
      return;
    }
  }
  FAIL() << "no property noticed";
}

INSTANTIATE_TEST_SUITE_P(
    All, AllocationMutantTest,
    ::testing::Values(
        Mutant{"MinimaIgnored", AfterShares([](ServiceShare& share) { share.minimum = 0; })},
        Mutant{"MaximaIgnored", AfterShares([](ServiceShare& share) { share.maximum.reset(); })},
        Mutant{"LendIgnored", AfterShares([](ServiceShare& share) { share.lend = 1; })},
        Mutant{"PriorityIgnored", AfterShares([](ServiceShare& share) { share.priority = 0; })},
        Mutant{"PriorityReversed",
               AfterShares([](ServiceShare& share) { share.priority = 7 - share.priority; })},
        Mutant{"WeightsIgnored", AfterShares([](ServiceShare& share) { share.weight = 1; })},
        Mutant{"JoinReserveIgnored", After([](Policy& policy) { policy.join_reserve = 0; })},
        Mutant{"EachAlone", EachAlone}, Mutant{"AtLeastOne", AtLeastOne}, Mutant{"OnePot", OnePot},
        Mutant{"LoadIgnored", LoadIgnored}),
    [](const auto& instance) { return std::string(instance.param.name); });

// The way to the shares.

struct Journey {
  int changes_when_steady = 0;
  bool takes_turns = false;
  std::string fault;
};

// Ticks with grants acknowledged at once; demands change once.
Journey Travel(std::uint64_t seed) {
  Input input = DrawInput(seed);
  Random random(seed);
  AllocationFleet fleet = MakeFleet(input);
  Journey journey;
  for (int tick = 0; tick < 400; ++tick) {
    if (tick == 100) {
      for (int i = 0; i < fleet.size(); ++i)
        fleet.SetDemand(i, Choose(random, {1.0, 3.0, 10.0, 40.0}));
    }
    fleet.Allocate();
    const int changes = fleet.Grant();
    if (tick >= 300) journey.changes_when_steady += changes;
    for (const auto& [service, sum] : SumByService(input, fleet.Limits())) {
      if (sum > Oracle::ShareOf(input, service).maximum.value_or(kCallsMax)) {
        journey.fault = absl::StrCat(service, " is above its maximum");
      }
    }
    if (fleet.Reserved() > *input.policy.quota) journey.fault = "the quota is exceeded";
    fleet.Pass(absl::Milliseconds(250));
  }
  const std::vector<Calls> limits = fleet.Limits();
  const std::vector<Calls> shares = fleet.Shares();
  journey.takes_turns = std::count(shares.begin(), shares.end(), 0) > 0;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (std::abs(limits[i] - shares[i]) > std::max(2, shares[i] / 4)) {
      journey.fault = absl::StrCat("limit ", limits[i], " is far from share ", shares[i]);
    }
  }
  return journey;
}

TEST(AllocationJourneyTest, ArrivesWithinTheQuotaAndThenRests) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Journey journey = Travel(seed);
    ASSERT_EQ(journey.fault, "") << "seed " << seed << "\n" << Describe(DrawInput(seed));
    if (journey.takes_turns) continue;  // moves that must be
    ASSERT_EQ(journey.changes_when_steady, 0) << "seed " << seed << "\n"
                                              << Describe(DrawInput(seed));
  }
}

}  // namespace
}  // namespace plimsoll::internal
