#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/cli/src/experiment.h"

namespace plimsoll::cli {

// What a law came to over all overload phases of a set of scenarios. Each phase counts once, as the
// mean over its runs; fields are not numbers if there was no phase to count.
struct LawTotals {
  std::string law;
  int phases = 0;
  double goodput_mean = 0;  // ÷ optimum
  double goodput_worst = 0;
  std::string goodput_worst_at;  // "A/halved"
  double p99_mean = 0;           // ÷ optimum's p99
  double p99_worst = 0;
  double to_90_median = 0;  // seconds; the length of the phase where it never came
  double to_90_max = 0;
  int never = 0;         // phases without 90 % in every run
  double overshoot = 0;  // means, from here on
  double oscillation = 0;
  double fairness = 0;
  double probe_cost = 0;
  int below_08 = 0;  // phases below 0.8 of the optimum
  std::int64_t quota_violations = 0;
};

// In the order of the laws.
std::vector<LawTotals> Total(const std::vector<Outcome>& outcomes);

// One set of scenarios, such as the designed ones.
struct SuitePart {
  std::string name;                 // "designed", "hold-out, seed 7"
  std::uint64_t scenario_seed = 0;  // 0: not made at random
  std::vector<Outcome> outcomes;
};

}  // namespace plimsoll::cli
