#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plimsoll::chaos {

inline constexpr int kMembers = 8;    // replicas that are there from the start
inline constexpr int kSurgeSize = 2;  // replicas that join, and that leave, in a surge
inline constexpr int kPlaces = kMembers + kSurgeSize;

enum class FaultKind {
  kKillReplica,        // SIGKILL, started again under the same name
  kPauseReplica,       // SIGSTOP, SIGCONT
  kRestartReplica,     // SIGTERM, started again under the same name
  kCutReplica,         // from the controller, both ways
  kCutFromReplica,     // only what it sends is lost
  kCutToReplica,       // only what it is sent is lost
  kDisturbReplica,     // delay, loss, duplicates, reordering between it and the controller
  kKillController,     // SIGKILL, started again on the same state
  kPauseController,    // SIGSTOP, SIGCONT
  kRestartController,  // SIGTERM, started again on the same state
  kCutController,      // from everybody
  kDisturbController,  // delay, loss, duplicates, reordering between it and everybody
  kSurge,              // two replicas join, two others leave in good order; and back again
  kQuota,              // another quota in the configuration file, SIGHUP
};
inline constexpr int kFaultKinds = static_cast<int>(FaultKind::kQuota) + 1;

// "kill replica", "cut from replica", …; of static storage.
const char* Name(FaultKind kind);
bool NeedsNetwork(FaultKind kind);

// Something that goes wrong, and is mended after a while. Times are seconds from the first call.
struct Fault {
  FaultKind kind = FaultKind::kKillReplica;
  double at = 0;
  double seconds = 0;        // until it is mended
  std::vector<int> targets;  // replicas, by number; the two that leave in a surge
  int quota = 0;             // kQuota: the new one
  // Disturbances: seconds of delay at most, and how likely a packet is lost or sent twice.
  double delay_max = 0;
  double loss = 0;
  double duplicates = 0;

  double end() const { return at + seconds; }
  friend bool operator==(const Fault&, const Fault&) = default;
};

struct ScheduleOptions {
  std::uint64_t seed = 1;
  double seconds = 45;  // all faults are mended by then
  bool network = true;  // false: only faults that need no network of our own
};

// The first quota, and those that the changes go through in turn.
inline constexpr int kFirstQuota = 50;
inline constexpr int kQuotas[] = {30, 50, 60, 50};

// What goes wrong, in the order of time: a pure function of the options. Every kind comes up about
// equally often in relation to its weight, in random order. One replica has at most one fault of
// its process and one of its network at a time, and so has the controller.
std::vector<Fault> MakeSchedule(const ScheduleOptions& options);

// "kill replica 3 for 1.24 s".
std::string Describe(const Fault& fault);

}  // namespace plimsoll::chaos
