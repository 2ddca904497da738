#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/integration/chaos/control_plane.h"
#include "tests/integration/chaos/schedule.h"

namespace plimsoll::chaos {

// What was seen of the grants of replicas. Seconds.
struct GrantFigures {
  double longest = 0;  // that nothing excused
  int longest_place = 0;
  double longest_end = 0;
  double excess = 0;  // by which a window was too long, stalls taken into account; or not above 0
  double p99 = 0;
  std::map<std::string, int> step_downs;  // by what excuses them; "": nothing
  std::vector<std::string> unexcused;
};

// What a run came to.
struct Result {
  std::uint64_t seed = 0;
  double seconds = 0;
  bool network = false;
  std::string no_network_because;
  std::array<int, kFaultKinds> faults{};
  int quota_changes = 0;
  int unsupported_changes = 0;
  std::int64_t packets_carried = 0;
  std::int64_t packets_lost = 0;

  int controllers = 1;
  int members = 0;  // of etcd
  Timing timing;
  PlaneFigures plane;
  GrantFigures grants;

  std::int64_t calls = 0;  // that reached the provider
  std::int64_t succeeded = 0;
  std::int64_t refused = 0;  // by replicas
  int in_flight_max = 0;
  int allowed_at_max = 0;
  std::int64_t violations = 0;
  int excess_max = 0;
  std::int64_t late_calls = 0;
  double lateness_max = 0;   // seconds
  double longest_stall = 0;  // of this machine, in seconds
  double longest_drought = 0;
  int drought_place = 0;
  double drought_end = 0;
  std::optional<double> all_serve_after;
  std::optional<double> whole_after;
  int last_limits = 0;
  int last_quota = 0;
  std::int64_t controller_kib_first = 0;
  std::int64_t controller_kib_last = 0;

  std::string trouble;  // what ended the run early, or did not end; empty if nothing
  std::vector<std::string> breach;

  double goodput() const { return seconds > 0 ? static_cast<double>(succeeded) / seconds : 0; }
};

// Everything that speaks against the run, as sentences; nothing if it was well.
std::vector<std::string> Complaints(const Result& result);

std::string ToText(const Result& result);
std::string ToJson(const Result& result);

}  // namespace plimsoll::chaos
