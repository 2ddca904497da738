#pragma once

#include <vector>

#include "plimsoll/core/time.h"
#include "tests/scale/options.h"

namespace plimsoll::scale {

enum class OutageKind {
  kRestart,  // the process gives back what it owns and ends
  kKilled,   // the process is gone; its machine refuses connections
  kSilent,   // the machine is gone: nobody answers
  kCutOff,   // the process runs and talks with agents, but not with etcd
};

struct Outage {
  int controller = 0;
  OutageKind kind = OutageKind::kRestart;
  Instant from;
  Instant gone;   // its keys have left etcd: at once after a restart, else when its lease has ended
  Instant until;  // it is back, as a new process unless it was only cut off. Later than `gone`
};

// What befalls whom when: the same for all shards, so each of them can be simulated by itself. A
// function of the options alone. Outages of one controller do not overlap.
class Timetable {
 public:
  explicit Timetable(const Options& options);

  // In order of `from`.
  const std::vector<Outage>& outages() const { return outages_; }
  // The outage of that controller at that time; null if it is well.
  const Outage* At(int controller, Instant now) const;
  // What is lived through before the first outage.
  static absl::Duration Calm(const Options& options) { return options.length * 0.35; }

 private:
  void Add(int controller, OutageKind kind, Instant from, absl::Duration down, double spread);

  const absl::Duration etcd_lease_;
  std::vector<Outage> outages_;
  std::vector<std::vector<Outage>> by_controller_;
};

}  // namespace plimsoll::scale
