#include "tests/scale/books.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace plimsoll::scale {

Books::Books(const std::vector<Policy>& policies, Figures& figures) : figures_(figures) {
  for (const Policy& policy : policies) sums_.push_back({policy.name, policy.quota_or_max()});
}

void Books::Replace(std::size_t dependency, const Tally& before, const Tally& after, Instant now) {
  Sums& sums = sums_[dependency];
  sums.limits += after.limit - before.limit;
  sums.running += after.running - before.running;
  sums.wanted += after.wanted - before.wanted;
  sums.used += after.used() - before.used();
  if (after.limit > before.limit) Check(sums, sums.limits, figures_.limits_max, "limits", now);
  if (after.running > before.running) {
    Check(sums, sums.running, figures_.in_flight_max, "calls in flight", now);
  }
}

void Books::CheckReserved(std::size_t dependency, std::int64_t reserved, Instant now) {
  Check(sums_[dependency], reserved, figures_.reserved_max, "reservations", now);
}

void Books::CheckCovered(std::size_t dependency, Calls reserved, const Tally& has, Instant now) {
  ++figures_.checks;
  if (has.limit <= reserved) return;
  Report(sums_[dependency].name,
         absl::StrFormat("%d reserved for a limit of %d", reserved, has.limit), now);
}

void Books::Check(const Sums& sums, std::int64_t sum, double& most, const char* what, Instant now) {
  ++figures_.checks;
  most = std::max(most, static_cast<double>(sum) / static_cast<double>(sums.quota));
  if (sum <= sums.quota) return;
  Report(sums.name, absl::StrFormat("%s sum to %d of %d", what, sum, sums.quota), now);
}

void Books::Report(const DependencyId& name, const std::string& what, Instant now) {
  ++figures_.violations;
  if (!figures_.first_violation.empty()) return;
  figures_.first_violation =
      absl::StrFormat("after %.3f s, %s: %s", static_cast<double>(now.ns) * 1e-9, name.value, what);
}

std::int64_t Books::usable() const {
  std::int64_t sum = 0;
  for (const Sums& sums : sums_) sum += std::min(sums.quota, sums.wanted);
  return sum;
}

std::int64_t Books::used() const {
  std::int64_t sum = 0;
  for (const Sums& sums : sums_) sum += sums.used;
  return sum;
}

}  // namespace plimsoll::scale
