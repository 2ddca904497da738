#include "plimsoll/agent/bulkhead_options.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plimsoll/core/violations.h"

namespace plimsoll {
namespace {

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
    const std::string name = absl::StrCat("classes[", i, "].share");
    if (!IsShare(share)) {
      violations.Require(false, name, share, "must be above 0 and at most 1");
    } else if (i == 0) {
      violations.Require(share == 1, name, share, "must be 1, or part of the limit is nobody's");
    } else {
      violations.Require(!(share > classes[i - 1].share), name, share,
                         "must be at most that of the more important class before it");
    }
  }
}

void CheckClasses(const std::vector<PriorityClass>& classes, Violations& violations) {
  if (classes.empty() || classes.size() > kPriorityClassesMax) {
    violations.Add(absl::StrCat("classes has ", classes.size(), " elements: must have 1 to ",
                                kPriorityClassesMax));
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const std::string name = absl::StrCat("classes[", i, "].name");
    const std::string value = absl::StrCat("'", classes[i].name, "'");
    if (IsClassName(classes[i].name)) {
      violations.Require(names.insert(classes[i].name).second, name, value,
                         "must differ from those before it");
    } else {
      violations.Require(false, name, value,
                         absl::StrCat("must be 1 to ", kClassNameLengthMax, " of a-z, 0-9, '_'"));
    }
  }
  CheckShares(classes, violations);
}

void CheckQueue(const QueueOptions& queue, Violations& violations) {
  violations.Require(queue.capacity >= 0 && queue.capacity <= kQueueCapacityMax, "queue.capacity",
                     queue.capacity, absl::StrCat("must be 0 to ", kQueueCapacityMax));
  violations.Require(queue.codel_target.count() >= 0, "queue.codel_target", queue.codel_target,
                     "must not be negative");
  if (queue.codel_interval.count() <= 0) {
    violations.Require(false, "queue.codel_interval", queue.codel_interval, "must be positive");
    return;
  }
  violations.Require(queue.codel_target <= queue.codel_interval, "queue.codel_target",
                     queue.codel_target,
                     absl::StrCat("must be at most queue.codel_interval, which is ",
                                  queue.codel_interval.count(), " ns"));
}

void CheckTenants(const TenantOptions& tenants, Violations& violations) {
  violations.Require(IsShare(tenants.share), "tenants.share", tenants.share,
                     "must be above 0 and at most 1");
  violations.Require(tenants.tracked >= 1 && tenants.tracked <= kTrackedMax, "tenants.tracked",
                     tenants.tracked, absl::StrCat("must be 1 to ", kTrackedMax));
}

}  // namespace

absl::Status Validate(const BulkheadOptions& options) {
  Violations violations(Violations::Form::kWords);
  CheckClasses(options.classes, violations);
  CheckQueue(options.queue, violations);
  CheckTenants(options.tenants, violations);
  violations.Require(options.permit_age_max.count() >= 0, "permit_age_max", options.permit_age_max,
                     "must not be negative");
  return violations.ToStatus("bulkhead options");
}

}  // namespace plimsoll
