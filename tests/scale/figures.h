#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/core/time.h"

namespace plimsoll::scale {

// What is counted, each in bins of a tenth of a second.
enum class Count {
  kSyncs,          // that have reached a controller
  kRegistrations,  // likewise
  kAnswers,        // to syncs, from an owner, with grants or without
  kGrants,         // in them
  kRefusals,       // from whoever
  kCoreEvents,
  kWrites,       // transactions that change etcd
  kOperations,   // puts and deletions in them
  kWriteBytes,   // keys and values of these
  kConfirms,     // an owner asks whether it still owns its shard (rule C6)
  kRounds,       // transactions that ask this of etcd, for all shards of a controller that wait
  kLooks,        // transactions and ranges of take-overs
  kLookedBytes,  // keys and values that these returned
};
inline constexpr std::size_t kCounts = 13;
std::string_view ToString(Count count);

inline constexpr std::int64_t kBinNs = 100'000'000;

// One shard has got another owner.
struct TakeOver {
  int shard = 0;
  int from = -1;  // nobody, at the start
  int to = -1;
  Instant lost;      // when the owner before failed, or gave the shard back
  Instant led;       // the new one serves
  Instant heard;     // it has heard 99 % of the sessions; 0: never
  Instant restored;  // heard, and the use of the quota is what it was before; 0: not before the end
                     // of the reign or of the run
  double lowest = 1;        // the lowest use since `lost`, as a part of what it was before
  std::int64_t bounds = 0;  // that were inherited

  friend bool operator==(const TakeOver&, const TakeOver&) = default;
};

// What a run comes to; of one shard, or of all of them added up.
struct Figures {
  std::array<std::vector<std::int64_t>, kCounts> bins;
  std::vector<std::vector<std::int64_t>> messages;  // by controller and second
  std::vector<std::vector<Instant>> asked;          // by controller: when a shard asked (rule C6)
  std::vector<std::vector<double>> busy_ns;  // of the core, by controller and second; if measured
  double longest_ns = 0;                     // that the core took for one event; if measured
  std::vector<std::vector<int>> owned;       // shards, by controller and second
  // By quarters of a second: what instances could use, and of that what they might.
  std::vector<std::int64_t> usable;
  std::vector<std::int64_t> used;
  std::vector<TakeOver> take_overs;
  std::vector<double> started;  // by shard: seconds until it was settled after the start

  // The largest sum seen, as a part of the quota, of any dependency.
  double limits_max = 0;
  double in_flight_max = 0;
  double reserved_max = 0;
  std::int64_t checks = 0;
  std::int64_t violations = 0;
  std::string first_violation;

  void Add(Count count, Instant at, std::int64_t amount = 1);
  std::int64_t Total(Count count) const;
  // The most within one second.
  std::int64_t PeakPerSecond(Count count) const;
  // As if so many times as much had been looked at.
  void Scale(double factor);
  // Of another shard. Instants stay what they are.
  void Merge(const Figures& other);
};

// All that does not depend on a stopwatch.
bool Same(const Figures& a, const Figures& b);

// The entry of `row` for `at`, by seconds; the row grows as needed.
template <typename T>
T& Second(std::vector<T>& row, Instant at) {
  const auto index = static_cast<std::size_t>(at.ns / 1'000'000'000);
  if (row.size() <= index) row.resize(index + 1);
  return row[index];
}

}  // namespace plimsoll::scale
