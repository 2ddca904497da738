#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/src/apportion.h"
#include "controller/src/offers.h"
#include "gtest/gtest.h"
#include "plimsoll/core/random.h"

namespace plimsoll::internal {
namespace {

constexpr std::uint64_t kSeeds = 20'000;

struct Input {
  std::vector<OfferRow> rows;
  OfferTerms terms;
};

Calls Draw(Random& random, Calls below) {
  return static_cast<Calls>(random.Below(static_cast<std::uint64_t>(below)));
}

// Shares as apportionment makes them, and limits near them or far.
Input DrawInput(std::uint64_t seed) {
  Random random(seed);
  Input input;
  input.terms.available = Draw(random, 120);
  input.terms.join_reserve = random.Chance(0.5) ? 0 : Draw(random, 4);
  input.terms.transit_max = 1 + Draw(random, 12);
  input.terms.in_transit = random.Chance(0.5) ? 0 : Draw(random, 12);
  input.terms.overbooked = random.Chance(0.05);
  std::vector<Claim> claims;
  for (Calls n = 1 + Draw(random, 10); n > 0; --n) {
    const Calls high = Draw(random, 40);
    claims.push_back({1, std::min(high, Draw(random, 4)), high, 40, 0, 0});
  }
  const std::vector<Calls> shares = Apportion(input.terms.available, claims);
  const bool near = random.Chance(0.5);
  Calls left = input.terms.available + (random.Chance(0.2) ? 20 : 0);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    OfferRow row;
    row.share = shares[i];
    row.low = claims[i].low;
    row.high = claims[i].high;
    row.wants = row.high > 0;
    row.settled = random.Chance(0.5);
    row.current = near ? std::max(0, row.share - 1 + Draw(random, 3)) : Draw(random, 40);
    row.current = std::min(row.current, left);
    left -= row.current;
    input.rows.push_back(row);
  }
  return input;
}

using Offerer = std::function<void(std::vector<OfferRow>&, const OfferTerms&)>;

std::vector<OfferRow> Made(const Offerer& make, const Input& input) {
  std::vector<OfferRow> rows = input.rows;
  make(rows, input.terms);
  return rows;
}

Calls FirstCall(const OfferRow& row) { return row.current == 0 && row.wants ? 1 : 0; }
Calls Urgent(const OfferRow& row) {
  return std::max(0, std::min(row.share, std::max(row.low, FirstCall(row))) - row.current);
}

// Nobody needs what others hold at once.
bool IsQuiet(const Input& input) {
  std::int64_t sum = 0;
  for (const OfferRow& row : input.rows) sum += row.current + Urgent(row);
  return !input.terms.overbooked && sum <= input.terms.available + input.terms.join_reserve;
}

// Each property returns what is wrong with it, or nothing.

std::string CheckSum(const Offerer& make, const Input& input) {
  std::int64_t sum = 0;
  for (const OfferRow& row : Made(make, input)) sum += row.offer;
  const Calls most = input.terms.available + input.terms.join_reserve;
  return sum <= most ? "" : absl::StrCat("offers ", sum, " of ", most);
}

std::string CheckBetween(const Offerer& make, const Input& input) {
  for (const OfferRow& row : Made(make, input)) {
    const auto [low, high] = std::minmax(row.current, row.share);
    if (row.offer < low || row.offer > high) return absl::StrCat("offers ", row.offer);
  }
  return "";
}

std::string CheckFreeIsOffered(const Offerer& make, const Input& input) {
  const std::vector<OfferRow> rows = Made(make, input);
  std::int64_t free = input.terms.available;
  for (const OfferRow& row : rows) free -= row.offer;
  const bool missing =
      std::any_of(rows.begin(), rows.end(), [](const OfferRow& r) { return r.offer < r.share; });
  return free <= 0 || !missing ? "" : absl::StrCat(free, " are free and not offered");
}

std::string CheckDwell(const Offerer& make, const Input& input) {
  if (!IsQuiet(input)) return "";
  for (const OfferRow& row : Made(make, input)) {
    const Calls kept = std::min(row.current, std::max(row.share, row.high));
    if (!row.settled && row.offer < kept) return "lowers what was raised just now";
  }
  return "";
}

std::string CheckTransit(const Offerer& make, const Input& input) {
  if (!IsQuiet(input)) return "";
  std::int64_t lowered = 0;
  for (const OfferRow& row : Made(make, input)) lowered += std::max(0, row.current - row.offer);
  const auto most = std::max<std::int64_t>(0, input.terms.transit_max - input.terms.in_transit);
  return lowered <= most ? "" : absl::StrCat("puts ", lowered, " under way");
}

// Where shares only waver, limits stay.
std::string CheckSteady(const Offerer& make, const Input& input) {
  if (!IsQuiet(input)) return "";
  std::int64_t sum = 0;
  for (const OfferRow& row : input.rows) {
    if (row.current < row.share - 1 || Urgent(row) > 0) return "";
    sum += row.current;
  }
  if (sum != input.terms.available) return "";
  for (const OfferRow& row : Made(make, input)) {
    if (row.offer != row.current) return "moves without a reason";
  }
  return "";
}

std::string CheckUrgent(const Offerer& make, const Input& input) {
  for (const OfferRow& row : Made(make, input)) {
    if (Urgent(row) > 0 && row.offer < row.current + Urgent(row))
      return "lets a first call or a low wait";
  }
  return "";
}

// Granted again and again, the offers come within the dead band of the shares.
std::string CheckArrival(const Offerer& make, const Input& input) {
  Input now = input;
  now.terms.in_transit = 0;
  now.terms.overbooked = false;
  for (int tick = 0; tick < 200; ++tick) {
    now.rows = Made(make, now);
    for (OfferRow& row : now.rows) {
      row.current = row.offer;
      row.settled = true;
    }
  }
  for (const OfferRow& row : now.rows) {
    if (row.share - row.current >= std::max(2, row.current / 10)) {
      return absl::StrCat("stays at ", row.current, " instead of ", row.share);
    }
  }
  return "";
}

struct Property {
  const char* name;
  std::string (*check)(const Offerer&, const Input&);
};
constexpr Property kProperties[] = {
    {"Sum", CheckSum},       {"Between", CheckBetween}, {"FreeIsOffered", CheckFreeIsOffered},
    {"Dwell", CheckDwell},   {"Transit", CheckTransit}, {"Steady", CheckSteady},
    {"Urgent", CheckUrgent}, {"Arrival", CheckArrival},
};

std::string Describe(const Input& input) {
  std::string text =
      absl::StrCat("available ", input.terms.available, " reserve ", input.terms.join_reserve,
                   " transit ", input.terms.transit_max, " - ", input.terms.in_transit, "\n");
  for (const OfferRow& row : Made(MakeOffers, input)) {
    absl::StrAppend(&text, row.current, " of ", row.share, " low ", row.low, " high ", row.high,
                    row.settled ? " settled" : "", " offer ", row.offer, "\n");
  }
  return text;
}

class OffersPropertyTest : public testing::TestWithParam<Property> {};

TEST_P(OffersPropertyTest, HoldsOnRandomInputs) {
  const std::uint64_t seeds = GetParam().check == CheckArrival ? kSeeds / 20 : kSeeds;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Input input = DrawInput(seed);
    ASSERT_EQ(GetParam().check(MakeOffers, input), "") << "seed " << seed << "\n"
                                                       << Describe(input);
  }
}

INSTANTIATE_TEST_SUITE_P(All, OffersPropertyTest, testing::ValuesIn(kProperties),
                         [](const auto& instance) { return std::string(instance.param.name); });

// Wrong ways to offer. The properties must catch every one.

void SharesAtOnce(std::vector<OfferRow>& rows, const OfferTerms& /*terms*/) {
  for (OfferRow& row : rows) row.offer = row.share;
}
void Never(std::vector<OfferRow>& rows, const OfferTerms& /*terms*/) {
  for (OfferRow& row : rows) row.offer = row.current;
}
void RaisesUnpaid(std::vector<OfferRow>& rows, const OfferTerms& /*terms*/) {
  for (OfferRow& row : rows) row.offer = std::max(row.current, row.share);
}
void AtLeastOne(std::vector<OfferRow>& rows, const OfferTerms& terms) {
  MakeOffers(rows, terms);
  for (OfferRow& row : rows) row.offer = std::max(1, row.offer);
}

// The input changed by `change`, then offered properly.
template <typename Change>
Offerer After(Change change) {
  return [change](std::vector<OfferRow>& rows, const OfferTerms& terms) {
    std::vector<OfferRow> changed = rows;
    OfferTerms changed_terms = terms;
    for (OfferRow& row : changed) change(row, changed_terms);
    MakeOffers(changed, changed_terms);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].offer = changed[i].offer;
  };
}

struct Mutant {
  const char* name;
  Offerer make;
};

class OffersMutantTest : public testing::TestWithParam<Mutant> {};

TEST_P(OffersMutantTest, IsCaught) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const Property& property : kProperties) {
      if (property.check == CheckArrival && seed > kSeeds / 20) continue;
      if (property.check(GetParam().make, DrawInput(seed)).empty()) continue;
      RecordProperty("caught_by", property.name);
      return;
    }
  }
  FAIL() << "no property noticed";
}

INSTANTIATE_TEST_SUITE_P(
    All, OffersMutantTest,
    testing::Values(
        Mutant{"SharesAtOnce", SharesAtOnce}, Mutant{"Never", Never},
        Mutant{"RaisesUnpaid", RaisesUnpaid}, Mutant{"AtLeastOne", AtLeastOne},
        Mutant{"NoDwell", After([](OfferRow& row, OfferTerms&) { row.settled = true; })},
        Mutant{"NeverSettled", After([](OfferRow& row, OfferTerms&) { row.settled = false; })},
        Mutant{"NoTransitBound",
               After([](OfferRow&, OfferTerms& terms) { terms.transit_max = 1000; })},
        Mutant{"TransitForgotten",
               After([](OfferRow&, OfferTerms& terms) { terms.in_transit = 0; })},
        Mutant{"NothingIsUrgent", After([](OfferRow& row, OfferTerms&) {
                 row.low = 0;
                 row.wants = false;
               })},
        Mutant{"JoinReserveSpentOnAll", After([](OfferRow&, OfferTerms& terms) {
                 terms.available += terms.join_reserve + 1;
                 terms.join_reserve = 0;
               })}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace plimsoll::internal
