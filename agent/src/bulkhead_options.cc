#include "plimsoll/agent/bulkhead_options.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace plimsoll {
namespace {

using Violations = std::vector<std::string>;

constexpr std::size_t kClassNameLengthMax = 32;
constexpr int kTrackedMax = 8192;
constexpr int kQueueCapacityMax = 1'000'000;

bool IsShare(double share) { return share > 0 && share <= 1; }

bool IsClassName(const std::string& name) {
  return !name.empty() && name.size() <= kClassNameLengthMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

void CheckShares(const std::vector<PriorityClass>& classes, Violations& violations) {
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const double share = classes[i].share;
    const std::string what = absl::StrCat("classes[", i, "].share is ", share);
    if (!IsShare(share)) {
      violations.push_back(absl::StrCat(what, ": must be above 0 and at most 1"));
    } else if (i == 0 && share != 1) {
      violations.push_back(absl::StrCat(what, ": must be 1, or part of the limit is nobody's"));
    } else if (i > 0 && share > classes[i - 1].share) {
      violations.push_back(
          absl::StrCat(what, ": must be at most that of the more important class before it"));
    }
  }
}

void CheckClasses(const std::vector<PriorityClass>& classes, Violations& violations) {
  if (classes.empty() || classes.size() > kPriorityClassesMax) {
    violations.push_back(absl::StrCat("classes has ", classes.size(), " elements: must have 1 to ",
                                      kPriorityClassesMax));
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const std::string what = absl::StrCat("classes[", i, "].name is '", classes[i].name, "'");
    if (!IsClassName(classes[i].name)) {
      violations.push_back(
          absl::StrCat(what, ": must be 1 to ", kClassNameLengthMax, " of a-z, 0-9, '_'"));
    } else if (!names.insert(classes[i].name).second) {
      violations.push_back(absl::StrCat(what, ": must differ from those before it"));
    }
  }
  CheckShares(classes, violations);
}

void CheckQueue(const QueueOptions& queue, Violations& violations) {
  if (queue.capacity < 0 || queue.capacity > kQueueCapacityMax) {
    violations.push_back(
        absl::StrCat("queue.capacity is ", queue.capacity, ": must be 0 to ", kQueueCapacityMax));
  }
  if (queue.codel_target.count() < 0) {
    violations.push_back(absl::StrCat("queue.codel_target is ", queue.codel_target.count(),
                                      " ns: must not be negative"));
  }
  if (queue.codel_interval.count() <= 0) {
    violations.push_back(absl::StrCat("queue.codel_interval is ", queue.codel_interval.count(),
                                      " ns: must be positive"));
  } else if (queue.codel_target > queue.codel_interval) {
    violations.push_back(absl::StrCat("queue.codel_target is ", queue.codel_target.count(),
                                      " ns: must be at most queue.codel_interval, which is ",
                                      queue.codel_interval.count(), " ns"));
  }
}

void CheckTenants(const TenantOptions& tenants, Violations& violations) {
  if (!IsShare(tenants.share)) {
    violations.push_back(
        absl::StrCat("tenants.share is ", tenants.share, ": must be above 0 and at most 1"));
  }
  if (tenants.tracked < 1 || tenants.tracked > kTrackedMax) {
    violations.push_back(
        absl::StrCat("tenants.tracked is ", tenants.tracked, ": must be 1 to ", kTrackedMax));
  }
}

}  // namespace

absl::Status Validate(const BulkheadOptions& options) {
  Violations violations;
  CheckClasses(options.classes, violations);
  CheckQueue(options.queue, violations);
  CheckTenants(options.tenants, violations);
  if (options.permit_age_max.count() < 0) {
    violations.push_back(absl::StrCat("permit_age_max is ", options.permit_age_max.count(),
                                      " ns: must not be negative"));
  }
  if (violations.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("bulkhead options: ", absl::StrJoin(violations, "; ")));
}

}  // namespace plimsoll
