#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plimsoll/simulation/load_scenario.h"

namespace plimsoll::cli {

// The words that scenario files use.
inline std::vector<std::pair<std::string, Discipline>> DisciplineWords() {
  return {{"fifo", Discipline::kFifo}, {"sharing", Discipline::kSharing}};
}
inline std::vector<std::pair<std::string, ServiceTime>> ServiceTimeWords() {
  return {{"exponential", ServiceTime::kExponential},
          {"fixed", ServiceTime::kFixed},
          {"pareto", ServiceTime::kPareto}};
}

template <typename Enum>
std::string WordOf(const std::vector<std::pair<std::string, Enum>>& words, Enum value) {
  for (const auto& [word, meaning] : words) {
    if (meaning == value) return word;
  }
  return "";
}

}  // namespace plimsoll::cli
