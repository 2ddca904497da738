#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/integration/chaos/fault_kinds.h"

namespace plimsoll::chaos {

inline constexpr int kMembers = 8;    // replicas that are there from the start
inline constexpr int kSurgeSize = 2;  // replicas that join, and that leave, in a surge
inline constexpr int kPlaces = kMembers + kSurgeSize;

// The target that is known only when the fault begins: the controller that leads, or the member
// that leads etcd.
inline constexpr int kLeader = -1;

enum class Way { kBoth, kFrom, kTo };

// Something that goes wrong, and is mended after a while. Times are seconds from the first call.
struct Fault {
  FaultKind kind = FaultKind::kKillReplica;
  double at = 0;
  double seconds = 0;  // until it is mended
  // Replicas by number; the two that leave in a surge. With several controllers these or members of
  // etcd, by number or kLeader: where two are hit, the other one comes after it.
  std::vector<int> targets;
  int quota = 0;  // kQuota: the new one
  // Disturbances: seconds of delay at most, and how likely a packet is lost or sent twice.
  double delay_max = 0;
  double loss = 0;
  double duplicates = 0;
  Way way = Way::kBoth;  // only what the target sends, or only what it is sent, is lost

  double end() const { return at + seconds; }
  friend bool operator==(const Fault&, const Fault&) = default;
};

struct ScheduleOptions {
  std::uint64_t seed = 1;
  double seconds = 45;  // all faults are mended by then
  bool network = true;  // false: only faults that need no network of our own
  // Several controllers and members of etcd; otherwise one controller, and none.
  int controllers = 1;
  int members = 0;
};

// The first quota, and those that the changes go through in turn.
inline constexpr int kFirstQuota = 50;
inline constexpr int kQuotas[] = {30, 50, 60, 50};

// What goes wrong, in the order of time: a pure function of the options. Every kind comes up about
// equally often in relation to its weight, in random order. One replica has at most one fault of
// its process and one of its network at a time, and so has the controller. With several controllers
// see control_schedule.h.
std::vector<Fault> MakeSchedule(const ScheduleOptions& options);

// "kill replica 3 for 1.24 s".
std::string Describe(const Fault& fault);

}  // namespace plimsoll::chaos
