#include "agent/src/tenant_table.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace plimsoll::internal {
namespace {

constexpr std::size_t kCountersPerTenant = 4;

// Spreads what differs over all bits: the finalizer of splitmix64 (Steele, Lea, Flood, 2014).
std::uint64_t Mix(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31);
}

}  // namespace

TenantTable::TenantTable(const TenantOptions& options)
    : cap_(options.share),
      width_(kCountersPerTenant * std::bit_ceil(static_cast<std::size_t>(options.tracked))),
      counters_(2 * width_) {}

TenantTable::Slots TenantTable::SlotsOf(std::string_view tenant) const {
  if (tenant.empty()) return 0;
  const std::uint64_t hash = Mix(std::hash<std::string_view>()(tenant));
  const auto mask = static_cast<std::uint64_t>(width_ - 1);
  return kSomebody | static_cast<Slots>(((hash >> 32) & mask) << kIndexBits) |
         static_cast<Slots>(hash & mask);
}

Calls TenantTable::Enter(Slots slots, Calls cost) {
  First(slots).fetch_add(cost, std::memory_order_seq_cst);
  Second(slots).fetch_add(cost, std::memory_order_seq_cst);
  return std::min(First(slots).load(std::memory_order_seq_cst),
                  Second(slots).load(std::memory_order_seq_cst));
}

void TenantTable::Leave(Slots slots, Calls cost) {
  First(slots).fetch_sub(cost, std::memory_order_release);
  Second(slots).fetch_sub(cost, std::memory_order_release);
}

}  // namespace plimsoll::internal
