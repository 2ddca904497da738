#pragma once

#include <compare>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "plimsoll/core/reason.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

// Which grant: epoch first, then sequence number. A larger stamp is a newer grant, whatever order
// the messages arrive in. The default stamp is no grant and smaller than all others.
struct GrantStamp {
  Epoch epoch;
  Seq seq;

  friend constexpr auto operator<=>(const GrantStamp&, const GrantStamp&) = default;
};

// The three steps of a grant, limit >= base >= reserve >= 0: what is in force while the lease runs,
// then while the base lease runs, then until a newer grant comes.
struct Steps {
  Calls limit = 0;
  Calls base = 0;
  Calls reserve = 0;

  friend constexpr bool operator==(const Steps&, const Steps&) = default;
};

// True if no component of `a` is larger than that of `b`.
constexpr bool FitsUnder(const Steps& a, const Steps& b) {
  return a.limit <= b.limit && a.base <= b.base && a.reserve <= b.reserve;
}

// Component by component.
constexpr Steps Highest(const Steps& a, const Steps& b) {
  return {a.limit > b.limit ? a.limit : b.limit, a.base > b.base ? a.base : b.base,
          a.reserve > b.reserve ? a.reserve : b.reserve};
}
constexpr Steps Lowest(const Steps& a, const Steps& b) {
  return {a.limit < b.limit ? a.limit : b.limit, a.base < b.base ? a.base : b.base,
          a.reserve < b.reserve ? a.reserve : b.reserve};
}

// Why the limit is what it is: what operators see beside it. Never used to enforce anything.
struct Explanation {
  Calls algorithm_limit = 0;  // what the algorithm wants for this instance, before anything else
  Calls quota_share = 0;      // what the quota leaves for it
  Calls floor = 0;
  Calls ceiling = 0;
  BindingConstraint binding = BindingConstraint::kAlgorithm;
  Reason reason = Reason::kInitial;
  std::string event_id;  // of the event that changed the limit last; empty if none is known

  friend bool operator==(const Explanation&, const Explanation&) = default;
};

// The controller's message that gives one instance a limit for one dependency.
struct Grant {
  DependencyId dependency;
  GrantStamp stamp;
  // The leases count from the moment the agent *sent* this sync, on the agent's own clock. So delay
  // only shortens them, and no clock of another machine is ever read.
  SyncNumber anchor;
  Steps steps;
  absl::Duration lease;
  absl::Duration base_lease;     // >= lease
  absl::Duration call_deadline;  // a call must have ended this long after its admission
  Explanation explanation;
  // Learning mode: install only if this is what is installed; a late sync could otherwise bring
  // back an older, larger claim (rule L2).
  std::optional<GrantStamp> renews;

  friend bool operator==(const Grant&, const Grant&) = default;
};

}  // namespace plimsoll
