#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/controller/snapshot.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

// What the advisor points out; a closed list.
enum class SizingFinding {
  kTooLittleTraffic,   // nothing can be advised yet
  kNeverUsed,          // the limits never pass 30 % of use: they protect nobody
  kAlwaysFull,         // above 90 % most of the time: the next burst is refused
  kMeasuredUnderLoad,  // calls were refused nearly all the time, so the latency may hold queueing
  kQuotaBelowNeed,     // the quota is below what critical work needs
  kQuotaFarAboveNeed,  // the quota is more than four times what critical work needs
  kFloorsAboveQuota,   // the floors of all instances together do not fit into the quota
  kFloorAboveNeed,     // the floor keeps limits above what the dependency could ever be sent
  kCeilingBelowNeed,   // an instance cannot carry its part of the peak
  kDependencyIsFull,   // the law found the dependency's knee below the need: more quota won't help
};
inline constexpr std::size_t kSizingFindings = 10;

// "NEVER_USED" and so on, of static storage.
std::string_view ToString(SizingFinding finding);

struct SizingRemark {
  SizingFinding finding;
  std::string message;  // one sentence for people
};

// Calls in flight by Little's law, L = arrival rate * time in the system (J. D. C. Little, "A Proof
// for the Queuing Formula: L = lambda W", Operations Research 9(3), 1961), from the highest rate of
// any step. All per fleet, except floor and ceiling.
struct SizingAdvice {
  DependencyId dependency;

  // What is set now.
  std::optional<Calls> configured_quota;
  Calls configured_floor = 0;
  Calls configured_ceiling = 0;

  // What was measured, over the steps in which calls came.
  absl::Duration span;          // from the first to the last step
  int steps = 0;                // with traffic
  int instances = 0;            // of the last step
  double arrivals_mean = 0;     // calls per second that were asked for, refused ones included
  double arrivals_peak = 0;     // of the busiest step
  absl::Duration latency_mean;  // weighted by calls
  absl::Duration latency_p99;   // the median of the steps' 99th percentiles
  double utilisation_mean = 0;  // calls in flight over the sum of the limits in force
  double utilisation_peak = 0;  // likewise
  double full_share = 0;        // of the steps: those above 90 %
  double refused_share = 0;     // of the calls that were asked for

  // What follows from it. Nothing if the traffic was too little.
  std::optional<Calls> in_flight_by_mean;  // peak rate * mean latency, rounded up
  std::optional<Calls> in_flight_by_p99;   // peak rate * 99th percentile, rounded up
  std::optional<Calls> critical;  // room for work that must not be refused: 2 * by mean, >= by p99
  std::optional<Calls> optional;  // room for work that may be refused at the peak: 1 * by mean
  std::optional<Calls> quota;     // what critical work needs
  std::optional<Calls> floor;     // of one instance: its part of an average moment
  std::optional<Calls> ceiling;  // of one instance: its part of `critical` with half the fleet gone

  std::vector<SizingRemark> remarks;
  std::vector<std::string> reasons;  // a sentence for each number above, for people
};

// Remembers what the read model said in even steps, and advises floors, ceilings and quotas.
// Memory: 56 bytes per dependency and step, at most `steps_max` of them. Pure. Thread-compatible.
class SizingAdvisor {
 public:
  explicit SizingAdvisor(int steps_max = 720) : steps_max_(steps_max) {}

  // To be called in even steps, with a snapshot not older than a step. Dependencies that are gone
  // are forgotten.
  void Observe(const Snapshot& snapshot);

  // One for each dependency of the last snapshot, by name.
  std::vector<SizingAdvice> Advise() const;

 private:
  struct Step {
    Instant at;
    double arrivals = 0;  // per second
    double refused = 0;   // per second
    absl::Duration latency_mean;
    absl::Duration latency_p99;
    double utilisation = 0;       // in flight over the limits in force
    double utilisation_peak = 0;  // the most that each instance had in flight over these
  };
  struct Past {
    std::deque<Step> steps;  // with traffic
    DependencyRow last;
  };

  SizingAdvice AdviseOn(const DependencyId& dependency, const Past& past) const;

  int steps_max_;
  std::map<DependencyId, Past> pasts_;
};

}  // namespace plimsoll
