#include "tests/scale/figures.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace plimsoll::scale {
namespace {

constexpr std::size_t kBinsPerSecond = 10;

template <typename T>
void AddUp(std::vector<T>& to, const std::vector<T>& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}
template <typename T>
void AddUp(std::vector<std::vector<T>>& to, const std::vector<std::vector<T>>& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) AddUp(to[i], from[i]);
}
template <typename T>
void Append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::string_view ToString(Count count) {
  constexpr std::array<std::string_view, kCounts> kNames = {
      "syncs",       "registrations", "answers",          "grants",           "refusals",
      "core_events", "etcd_writes",   "etcd_operations",  "etcd_write_bytes", "etcd_confirms",
      "etcd_rounds", "etcd_looks",    "etcd_looked_bytes"};
  return kNames[static_cast<std::size_t>(count)];
}

void Figures::Add(Count count, Instant at, std::int64_t amount) {
  std::vector<std::int64_t>& row = bins[static_cast<std::size_t>(count)];
  const auto bin = static_cast<std::size_t>(at.ns / kBinNs);
  if (row.size() <= bin) row.resize(bin + 1);
  row[bin] += amount;
}

std::int64_t Figures::Total(Count count) const {
  const auto& row = bins[static_cast<std::size_t>(count)];
  return std::accumulate(row.begin(), row.end(), std::int64_t{0});
}

std::int64_t Figures::PeakPerSecond(Count count) const {
  const auto& row = bins[static_cast<std::size_t>(count)];
  std::int64_t peak = 0;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    sum += row[i] - (i < kBinsPerSecond ? 0 : row[i - kBinsPerSecond]);
    peak = std::max(peak, sum);
  }
  return peak;
}

void Figures::Scale(double factor) {
  for (auto& row : bins) {
    for (auto& bin : row) {
      bin = static_cast<std::int64_t>(std::llround(static_cast<double>(bin) * factor));
    }
  }
}

void Figures::Merge(const Figures& other) {
  for (std::size_t i = 0; i < kCounts; ++i) AddUp(bins[i], other.bins[i]);
  AddUp(messages, other.messages);
  if (asked.size() < other.asked.size()) asked.resize(other.asked.size());
  for (std::size_t i = 0; i < other.asked.size(); ++i) Append(asked[i], other.asked[i]);
  AddUp(busy_ns, other.busy_ns);
  longest_ns = std::max(longest_ns, other.longest_ns);
  AddUp(owned, other.owned);
  AddUp(usable, other.usable);
  AddUp(used, other.used);
  Append(take_overs, other.take_overs);
  Append(started, other.started);
  limits_max = std::max(limits_max, other.limits_max);
  in_flight_max = std::max(in_flight_max, other.in_flight_max);
  reserved_max = std::max(reserved_max, other.reserved_max);
  checks += other.checks;
  violations += other.violations;
  if (first_violation.empty()) first_violation = other.first_violation;
}

bool Same(const Figures& a, const Figures& b) {
  return a.bins == b.bins && a.messages == b.messages && a.owned == b.owned &&
         a.usable == b.usable && a.used == b.used && a.take_overs == b.take_overs &&
         a.started == b.started && a.limits_max == b.limits_max &&
         a.in_flight_max == b.in_flight_max && a.reserved_max == b.reserved_max &&
         a.checks == b.checks && a.violations == b.violations &&
         a.first_violation == b.first_violation;
}

}  // namespace plimsoll::scale
