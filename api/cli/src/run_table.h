#pragma once

#include <cstdint>
#include <string>

#include "api/cli/src/experiment.h"
#include "api/cli/src/text_table.h"

namespace plimsoll::cli {

// A row per phase of one law; phases that offer more than can be done have a star.
Table PhaseTable(const Outcome& outcome, const LawOutcome& law);

// "0 quota violations, at most 37 of 50 in flight; …": what a law came to beside its phases.
std::string LawSummary(const Outcome& outcome, const LawOutcome& law);

// All of an outcome as text: the scenario in words, then table and summary of each law.
std::string OutcomeText(const Outcome& outcome);

// "4.5 s", or "never" if 90 % were not reached and held in every run.
std::string To90Text(const PhaseScore& score);

// Several things of one kind: "1 run", "3 runs".
std::string Count(std::int64_t count, const std::string& noun);

}  // namespace plimsoll::cli
