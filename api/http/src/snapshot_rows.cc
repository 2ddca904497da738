#include "api/http/src/snapshot_rows.h"

namespace plimsoll::internal {

const DependencyRow* FindDependency(const Snapshot& snapshot, const std::string& name) {
  for (const DependencyRow& row : snapshot.dependencies) {
    if (row.policy.name.value == name) return &row;
  }
  return nullptr;
}

std::vector<const LimitRow*> LimitsOf(const Snapshot& snapshot, const std::string& dependency) {
  std::vector<const LimitRow*> rows;
  for (const LimitRow& row : snapshot.limits) {
    if (row.dependency.value == dependency) rows.push_back(&row);
  }
  return rows;
}

}  // namespace plimsoll::internal
