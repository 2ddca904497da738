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
  // Of the limit, 0 < share <= 1. The class is refused from floor(share * limit) units in flight
  // on, but never below 1: of a limit of 1 every class can use it.
  double share = 1;
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
};

// Caps for those whom calls are for, so that one of them cannot take the whole compartment.
struct TenantOptions {
  // Most of the limit that one tenant may have in flight, 0 < share <= 1, at least 1 unit; 1: no
  // cap.
  double share = 1;
  // How many tenants are told apart at once. Those beyond share buckets: they are capped together.
  int tracked = 1024;
};

inline constexpr int kPriorityClassesMax = 8;

// Settings of one bulkhead that are the process's own business. The limit is not among them.
struct BulkheadOptions {
  // 1 to 8, most important first.
  std::vector<PriorityClass> classes = {{"default", 1.0}};
  QueueOptions queue;
  TenantOptions tenants;
  // A permit that has been held longer is reported as a leak, once, with where it was taken. It
  // still ends as usual. Zero: off. Give more than the longest call takes.
  std::chrono::nanoseconds permit_age_max{0};
};

// Lists every violation as name, value and rule. OK if there is none.
absl::Status Validate(const BulkheadOptions& options);

}  // namespace plimsoll
