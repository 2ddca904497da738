#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "controller/config/map_reader.h"
#include "plimsoll/controller/policy.h"
#include "plimsoll/controller/templates.h"

namespace plimsoll {

// What a file says of dependencies.
struct PolicyList {
  PolicySet policies;
  TemplateSet templates;
  Policy defaults;  // what a dependency is that sets nothing
};

// Reads the sections "defaults" and "dependencies" of the top map, and reports what is wrong with
// them. `defaults` is what they begin with; `lease` that of agents.lease.
PolicyList ReadPolicies(MapReader& top, Policy defaults, absl::Duration lease, Faults& faults);

// Reads a map that is one policy, with the keys of a dependency but for its name, and reports what
// is wrong with it. `policy` is what holds where the map sets nothing.
Policy ReadPolicy(MapReader map, Policy policy, absl::Duration lease, Faults& faults);

// Reads a map that is one dependency as the API shows it, with the name that `policy` has; what
// can only be read there is ignored.
Policy ReadDependency(MapReader map, Policy policy, absl::Duration lease, Faults& faults);
// Reads a map that is the quota of a dependency as the API shows it, into its policy.
void ReadQuotaOf(MapReader map, Policy& policy, absl::Duration lease, Faults& faults);

// Reports what a Validate() found, "NAME = VALUE: RULE; …" as all of them give it, at the keys of
// that name below `pointer`; what is set there by default only, at the same key below `fallback`,
// if the file has that.
void ReportViolations(const absl::Status& status, const std::string& pointer,
                      const std::string& fallback, Faults& faults);

// Splits the message of a Validate(), "a = 1: rule; b = 2: rule; and more of it", into its two
// violations.
std::vector<std::string> SplitViolations(const std::string& message);

}  // namespace plimsoll
