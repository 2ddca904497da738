#pragma once

#include <string>

#include "api/cli/src/suite.h"
#include "api/cli/src/text_table.h"

namespace plimsoll::cli {

// A row per law.
Table TotalsTable(const SuitePart& part);
// A row per overload phase, a column per law: good calls ÷ optimum.
Table GoodputTable(const SuitePart& part);
// "designed: 17 scenarios, 41 overload phases, 3 runs each, seeds from 1000".
std::string PartTitle(const SuitePart& part);
// All of it as text.
std::string PartText(const SuitePart& part);

}  // namespace plimsoll::cli
