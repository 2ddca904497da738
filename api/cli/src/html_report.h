#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "api/cli/src/suite.h"

namespace plimsoll::cli {

// Rows of the table of decisions, per law.
inline constexpr std::size_t kDecisionRowsMax = 300;

// One scenario as a page of its own: words, scores, charts over time, decisions with their reasons.
// Needs nothing but the file. Well-formed XML after its first line.
std::string OutcomeHtml(const Outcome& outcome);
// The suite: totals, goodput per phase, and the charts of each scenario with all laws.
std::string SuiteHtml(const std::vector<SuitePart>& parts);
// The charts of one scenario as a picture for a page: at most 60 KB.
std::string OutcomeSvg(const Outcome& outcome);

}  // namespace plimsoll::cli
