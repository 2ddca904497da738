#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "agent/examples/demonstrations/overload_lane.h"
#include "agent/examples/demonstrations/report.h"

namespace plimsoll::demonstrations {

struct OverloadResult {
  std::size_t overload_seconds = 0;  // so long the load is too high, then it falls
  double capacity = 0;               // calls per second
  std::vector<OverloadSpan> without;
  std::vector<OverloadSpan> with;
};

// Whole seconds after the fall of the load until the p99 of a second, and of all that follow, is
// within kTarget. Nothing: not in this run.
std::optional<std::size_t> SecondsToRecover(const std::vector<OverloadSpan>& timeline,
                                            std::size_t overload_seconds);

// A row for each second, and the claims, with factors that leave room for machines that do other
// things meanwhile.
Report OverloadReport(const OverloadResult& result);

}  // namespace plimsoll::demonstrations
