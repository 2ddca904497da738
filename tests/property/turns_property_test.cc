#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/src/turns.h"
#include "gtest/gtest.h"

namespace plimsoll::internal {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(2);
constexpr int kClaimantsMax = 25;

// Who holds a call in each of many turns.
using History = std::vector<std::vector<bool>>;
using Taker = std::function<History(const std::vector<double>& shares, Calls calls, int turns)>;

History ByRing(const std::vector<double>& shares, Calls calls, int turns) {
  std::vector<Turn> memory(shares.size());
  std::vector<TurnTaker> takers;
  for (std::size_t i = 0; i < shares.size(); ++i) takers.push_back({&memory[i], shares[i]});
  Ring ring;
  History history;
  for (int turn = 0; turn < turns; ++turn) {
    // Ticks within a turn must not matter.
    for (int tick = 0; tick < 2; ++tick) {
      const Instant now = Instant{1} + turn * kInterval + tick * kInterval / 2;
      TakeTurns(takers, calls, kInterval, now, ring);
    }
    std::vector<bool>& holds = history.emplace_back();
    for (const Turn& one : memory) holds.push_back(one.holds);
  }
  return history;
}

// Each property returns what is wrong with it, or nothing.

std::string CheckSum(const History& history, const std::vector<double>& /*shares*/, Calls calls) {
  for (const std::vector<bool>& holds : history) {
    const auto held = std::count(holds.begin(), holds.end(), true);
    if (held != calls) return absl::StrCat(held, " calls are held instead of ", calls);
  }
  return "";
}

std::string CheckOneMove(const History& history, const std::vector<double>& /*shares*/,
                         Calls /*calls*/) {
  for (std::size_t turn = 1; turn < history.size(); ++turn) {
    int taken = 0;
    for (std::size_t i = 0; i < history[turn].size(); ++i) {
      taken += history[turn][i] && !history[turn - 1][i] ? 1 : 0;
    }
    if (taken > 1) return absl::StrCat(taken, " calls change hands in turn ", turn);
  }
  return "";
}

std::string CheckWait(const History& history, const std::vector<double>& shares, Calls calls) {
  const auto count = static_cast<Calls>(shares.size());
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  if (*least != *most) return "";
  for (std::size_t i = 0; i < shares.size(); ++i) {
    int waits = 0;
    for (const std::vector<bool>& holds : history) {
      waits = holds[i] ? 0 : waits + 1;
      if (waits > count - calls + 1) return absl::StrCat("claimant ", i, " waits ", waits);
    }
  }
  return "";
}

std::string CheckLongRun(const History& history, const std::vector<double>& shares, Calls calls) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  const auto turns = static_cast<double>(history.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    double held = 0;
    for (const std::vector<bool>& holds : history) held += holds[i] ? 1 : 0;
    const double due = shares[i] / sum * calls * turns;
    if (std::abs(held - due) > static_cast<double>(shares.size()) + 1) {
      return absl::StrCat("claimant ", i, " held for ", held, " turns and is due ", due);
    }
  }
  return "";
}

struct Property {
  const char* name;
  std::string (*check)(const History&, const std::vector<double>&, Calls);
};
constexpr Property kProperties[] = {
    {"Sum", CheckSum}, {"OneMove", CheckOneMove}, {"Wait", CheckWait}, {"LongRun", CheckLongRun}};

// All are due the same, or some twice as much as the others.
std::vector<double> SharesOf(int claimants, Calls calls, bool equal) {
  std::vector<double> shares;
  double sum = 0;
  for (int i = 0; i < claimants; ++i) sum += shares.emplace_back(equal || i % 3 > 0 ? 1 : 2);
  for (double& share : shares) share *= calls / sum;
  return shares;
}

// What is wrong with a way of taking turns, or nothing.
std::string FirstFault(const Taker& take, const Property& property) {
  for (int claimants = 2; claimants < kClaimantsMax; ++claimants) {
    for (Calls calls = 1; calls < claimants; ++calls) {
      for (const bool equal : {true, false}) {
        const std::vector<double> shares = SharesOf(claimants, calls, equal);
        if (*std::max_element(shares.begin(), shares.end()) >= 1) continue;
        const std::string fault = property.check(take(shares, calls, 400), shares, calls);
        if (!fault.empty()) return absl::StrCat(calls, " of ", claimants, ": ", fault);
      }
    }
  }
  return "";
}

class TurnsPropertyTest : public testing::TestWithParam<Property> {};

TEST_P(TurnsPropertyTest, HoldsForAllNumbers) { EXPECT_EQ(FirstFault(ByRing, GetParam()), ""); }

INSTANTIATE_TEST_SUITE_P(All, TurnsPropertyTest, testing::ValuesIn(kProperties),
                         [](const auto& instance) { return std::string(instance.param.name); });

// Wrong ways to take turns. The properties must catch every one.

// The rule itself with another kind of credit.
template <typename Credit>
History BySwap(const std::vector<double>& shares, Calls calls, int turns, Credit one) {
  const std::size_t count = shares.size();
  std::vector<Credit> credit(count, 0);
  std::vector<int> since(count, 0);
  std::vector<bool> holds(count, false);
  std::fill(holds.begin(), holds.begin() + calls, true);
  History history;
  for (int turn = 0; turn < turns; ++turn) {
    std::size_t out = count;
    std::size_t in = count;
    for (std::size_t i = 0; i < count; ++i) {
      credit[i] += static_cast<Credit>(shares[i] * static_cast<double>(one)) - (holds[i] ? one : 0);
      std::size_t& best = holds[i] ? out : in;
      if (best == count) best = i;
      const bool further = holds[i] ? credit[i] < credit[best] : credit[i] > credit[best];
      if (further || (credit[i] == credit[best] && since[i] < since[best])) best = i;
    }
    if (credit[in] > credit[out]) {
      holds[in] = true;
      holds[out] = false;
      since[in] = since[out] = turn;
    }
    history.push_back(holds);
  }
  return history;
}

History FloatCredits(const std::vector<double>& shares, Calls calls, int turns) {
  return BySwap<double>(shares, calls, turns, 1.0);
}
History CoarseCredits(const std::vector<double>& shares, Calls calls, int turns) {
  return BySwap<int>(shares, calls, turns, 1);
}

// The next window of the ring, whatever anybody is due.
History NoCredits(const std::vector<double>& shares, Calls calls, int turns) {
  History history;
  for (int turn = 0; turn < turns; ++turn) {
    std::vector<bool>& holds = history.emplace_back(shares.size(), false);
    for (Calls k = 0; k < calls; ++k) {
      holds[static_cast<std::size_t>(turn + k) % shares.size()] = true;
    }
  }
  return history;
}

History NoTurns(const std::vector<double>& shares, Calls calls, int turns) {
  std::vector<bool> holds(shares.size(), false);
  std::fill(holds.begin(), holds.begin() + calls, true);
  return History(static_cast<std::size_t>(turns), holds);
}

History AllAtOnce(const std::vector<double>& shares, Calls calls, int turns) {
  History history;
  for (int turn = 0; turn < turns; ++turn) {
    std::vector<bool>& holds = history.emplace_back(shares.size(), false);
    for (Calls k = 0; k < calls; ++k) {
      holds[static_cast<std::size_t>(turn * calls + k) % shares.size()] = true;
    }
  }
  return history;
}

History AtLeastOne(const std::vector<double>& shares, Calls /*calls*/, int turns) {
  return History(static_cast<std::size_t>(turns), std::vector<bool>(shares.size(), true));
}

struct Mutant {
  const char* name;
  Taker take;
};

class TurnsMutantTest : public testing::TestWithParam<Mutant> {};

TEST_P(TurnsMutantTest, IsCaught) {
  for (const Property& property : kProperties) {
    if (FirstFault(GetParam().take, property).empty()) continue;
    RecordProperty("caught_by", property.name);
    return;
  }
  FAIL() << "no property noticed";
}

INSTANTIATE_TEST_SUITE_P(All, TurnsMutantTest,
                         testing::Values(Mutant{"FloatCredits", FloatCredits},
                                         Mutant{"CoarseCredits", CoarseCredits},
                                         Mutant{"NoCredits", NoCredits}, Mutant{"NoTurns", NoTurns},
                                         Mutant{"AllAtOnce", AllAtOnce},
                                         Mutant{"AtLeastOne", AtLeastOne}),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace plimsoll::internal
