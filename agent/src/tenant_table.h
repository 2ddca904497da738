#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "agent/src/share.h"
#include "plimsoll/agent/bulkhead_options.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// The units that each tenant has in flight, in two rows of counters. A tenant has one counter in
// each row, found by a hash of its name, and others may have the same: so each of the two is at
// least what the tenant has in flight, and so is the smaller one, which is what is compared with
// the cap. Tenants that share one counter do not disturb each other, those that share both are
// capped together. (A count-min sketch: Cormode, Muthukrishnan, "An improved data stream summary",
// 2005.) There is nothing to claim or to free, so nothing that threads could disagree on.
//
// Each row has at least four counters for each tenant tracked. With so many tenants in flight a
// counter is shared with probability 1 - exp(-1/4) = 0.22 at most, both with 0.05.
//
// Thread-safe; allocates only when it is made.
class TenantTable {
 public:
  // Where a tenant is counted; 0 is nowhere.
  using Slots = std::uint32_t;

  explicit TenantTable(const TenantOptions& options);

  Slots SlotsOf(std::string_view tenant) const;
  Calls CapOf(Calls limit) const { return cap_.Of(limit); }

  // Counts `cost` units, then tells what the tenant has in flight with them, or more. Both rows are
  // counted before either is read, sequentially consistent: of those who enter at the same time,
  // the last to be counted reads all of them.
  Calls Enter(Slots slots, Calls cost);
  // Takes away what one Enter() has counted.
  void Leave(Slots slots, Calls cost);

 private:
  static constexpr int kIndexBits = 15;
  static constexpr Slots kIndexMask = (Slots{1} << kIndexBits) - 1;
  static constexpr Slots kSomebody = Slots{1} << 31;

  std::atomic<Calls>& First(Slots slots) { return counters_[slots & kIndexMask]; }
  std::atomic<Calls>& Second(Slots slots) {
    return counters_[width_ + ((slots >> kIndexBits) & kIndexMask)];
  }

  const Share cap_;
  const std::size_t width_;  // a power of two, at most 2^kIndexBits
  std::vector<std::atomic<Calls>> counters_;
};

}  // namespace plimsoll::internal
