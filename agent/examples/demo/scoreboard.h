#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/examples/demo/lane.h"

namespace plimsoll::demo {

// For people: a table with a column for each lane, the shares of the replicas, and what happened.
std::string ScoreboardText(const std::vector<LaneResult>& lanes);

// For programs: one JSON object, without a line end.
std::string ScoreboardJson(const std::vector<LaneResult>& lanes, std::uint64_t seed);

// Of the lane `plimsoll`; 0 if it did not run.
std::int64_t Violations(const std::vector<LaneResult>& lanes);

}  // namespace plimsoll::demo
