#pragma once

#include <optional>
#include <string>

#include "plimsoll/algorithms/algorithm.h"
#include "tests/conformance/trace.h"

namespace plimsoll {

// Feeds the samples of a trace to a law and compares the first limit, every later one, and the
// final state, doubles bit by bit. Returns the first difference in words, nothing if all agree. The
// law is handed in, so that broken ones can be shown to be found out.
std::optional<std::string> FirstDifference(const Trace& trace, const LimitAlgorithm& law);

}  // namespace plimsoll
