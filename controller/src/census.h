#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "controller/src/apportion.h"
#include "controller/src/state.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// Who is there to be given a share of a dependency, and what each may claim.

// One instance.
struct Row {
  Member* member;
  Claim claim;
  bool wants = false;
  Calls low_if_scarce = 0;
};

// One service that has instances.
struct Service {
  const ServiceId* name;
  ServiceState* state;
  ServiceShare settings;
  std::vector<Row> rows;
  Calls share = 0;
};

using Services = std::vector<Service>;

// How long the answer to a sync may be held back at most: see CoreOptions.
inline absl::Duration SyncMax(const DependencyState& dependency) { return dependency.lease / 10; }

struct Census {
  Services services;        // by name
  std::int64_t silent = 0;  // what the silent and the fenced hold: not there to be divided
  std::int64_t sent = 0;    // to all others
  // The part of `silent` that was held by those who fell silent soon after they had come.
  std::int64_t lost_early = 0;
};

// Sessions that have not been heard of for two syncs, and fenced ones, have no claim; what they
// hold is counted as silent, and stays theirs while it is reserved. Leaving sessions claim what
// runs.
//
// A crash loop must not eat the quota: each of its processes would take a share into its grave,
// where it stays reserved for lease and call deadline. So while there is one, at least three
// instances within a minute that fell silent before they were 30 s old, those that have not lived
// twice as long get more than they have only within a tenth of the quota, together, and less what
// is lost. Pure. O(n log n).
Census TakeCensus(DependencyState& dependency, const Sessions& sessions, Instant now);

}  // namespace plimsoll::internal
