#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace plimsoll {

// A class of calls may fill the limit up to its share. All classes count on one occupancy, so an
// important call finds room that lesser ones had to leave, and nothing is set aside that could
// stand empty.
struct PriorityClass {
  std::string name;  // metric label: 1 to 32 of a-z, 0-9, '_'
  // Of the limit, 0 < share <= 1, to a millionth; that of the first class is 1, and no class has
  // more than the one before it. A call is admitted while no more than
  // max(1, floor(share * limit)) units are in flight with it: every class can use a limit of 1.
  double share = 1;

  friend bool operator==(const PriorityClass&, const PriorityClass&) = default;
};

// Which waiting caller is next.
enum class QueueOrder {
  kFifo,
  // First come, first served while the queue keeps running empty; newest first once callers have
  // been waiting for `codel_interval` without a break: the newest still have time to use the
  // answer.
  kAdaptiveLifo,
};

// Callers that wait for a permit. They are outside of the dependency: they are not in flight, not
// part of the latency, and bounded apart from those who are.
struct QueueOptions {
  int capacity = 0;  // most callers that wait at once; 0: nobody waits
  QueueOrder order = QueueOrder::kFifo;
  // Controlled delay: once even the shortest wait of an interval was above the target, callers that
  // waited longer than twice the target are refused when their turn comes (kDeadline). Zero target:
  // off. Formula: adaptive variant without a drop schedule, as in Facebook's folly; see README.
  std::chrono::nanoseconds codel_target{0};
  std::chrono::nanoseconds codel_interval{100'000'000};

  friend bool operator==(const QueueOptions&, const QueueOptions&) = default;
};

// Caps for those whom calls are for, so that one of them cannot take the whole compartment.
struct TenantOptions {
  // Most of the limit that one tenant may have in flight, 0 < share <= 1, to a millionth, at least
  // 1 unit; 1: no cap. A tenant that costs more than its cap is refused.
  double share = 1;
  // For how many tenants with calls in flight at once the table is made, 1 to 8192; 32 bytes each,
  // 64 at most. Tenants are counted by hashes. With so many about one in twenty shares its count
  // with others and is capped with them; with fewer, by far fewer; with more, more. No tenant ever
  // has more than its cap.
  int tracked = 1024;

  friend bool operator==(const TenantOptions&, const TenantOptions&) = default;
};

inline constexpr int kPriorityClassesMax = 8;

// Settings of one bulkhead that are the process's own business. The limit is not among them.
struct BulkheadOptions {
  // 1 to 8, most important first, of different names.
  std::vector<PriorityClass> classes = {{"default", 1.0}};
  QueueOptions queue;
  TenantOptions tenants;
  // A permit that has been held longer is reported as a leak, once, with where it was taken. It
  // still ends as usual. Zero: off. Give more than the longest call takes.
  // At most 1024 permits of a bulkhead are watched at once; those beyond are not.
  std::chrono::nanoseconds permit_age_max{0};

  friend bool operator==(const BulkheadOptions&, const BulkheadOptions&) = default;
};

// Lists every violation as name, value and rule. OK if there is none.
absl::Status Validate(const BulkheadOptions& options);

}  // namespace plimsoll
