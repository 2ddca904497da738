#pragma once

#include <vector>

#include "plimsoll/core/random.h"
#include "plimsoll/core/time.h"
#include "tests/scale/options.h"

namespace plimsoll::scale {

// When a controller asks etcd whether it still owns its shards, if these ask at those instants, in
// any order: all that wait share a round, as in the product, and by its planner
// (etcd_round_plan.h). Pure.
std::vector<Instant> RoundsOf(std::vector<Instant> asked, const Options& options, Random random);

}  // namespace plimsoll::scale
