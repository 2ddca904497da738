#pragma once

#include "agent/examples/demonstrations/cascade_lane.h"
#include "agent/examples/demonstrations/report.h"

namespace plimsoll::demonstrations {

struct CascadeResult {
  CascadeLane shared;
  CascadeLane split;
};

// A row for each dependency and lane, and the claims, with factors that leave room for machines
// that do other things meanwhile.
Report CascadeReport(const CascadeResult& result);

}  // namespace plimsoll::demonstrations
