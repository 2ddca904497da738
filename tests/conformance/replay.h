#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/algorithms/windowed.h"
#include "tests/conformance/trace.h"

namespace plimsoll {

// What a law is shown of a call: an observation, or nothing while a window is open.
using Gather = std::function<std::optional<Observation>(const TraceSample& sample)>;

// Each sample by itself, or gathered in windows, as the trace says.
Gather GatherOf(const Trace& trace);

// The state of a law under the names that the reference has for it.
std::map<std::string, double> StateByName(const LawState& state);

// Feeds the samples of a trace to a law and compares the first limit, every later one, and the
// final state, doubles bit by bit. Returns the first difference in words, nothing if all agree. The
// law is handed in, and so is the gathering, so that broken ones can be shown to be found out.
std::optional<std::string> FirstDifference(const Trace& trace, const LimitAlgorithm& law,
                                           const Gather& gather);
inline std::optional<std::string> FirstDifference(const Trace& trace, const LimitAlgorithm& law) {
  return FirstDifference(trace, law, GatherOf(trace));
}

}  // namespace plimsoll
