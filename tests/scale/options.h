#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace plimsoll::scale {

// What befalls the controllers.
enum class Failures {
  kNone,
  kRolling,  // each is restarted in its turn: it says good-bye, and is back after five seconds
  kZone,     // every third one is lost at once, silently, and comes back at once
  kCrash,    // killed, lost silently, or cut off from etcd alone, at random
};

// One rule is broken, to prove that the checks notice.
enum class Sabotage {
  kNone,
  kInheritsNothing,  // a take-over begins without the bounds of the reign before
  kHoldsCutShort,    // a take-over counts the holds as if they had begun long ago
  kOwnsByRankAlone,  // who finds itself first owns: no transaction asks whether somebody else does
};

// What a simulated fleet of controllers is made of. All of it is virtual; same options, same run.
struct Options {
  int controllers = 100;
  int agents = 100'000;
  int dependencies = 1'000;
  int shards = 256;
  int per_agent = 3;              // an agent uses 1 to so many dependencies
  double popularity = 0.6;        // exponent of Zipf's law: 0, all dependencies are equally popular
  double quota_per_member = 1.5;  // calls; an instance wants 2 on average. Every tenth: a sixth
  absl::Duration length = absl::Seconds(120);
  absl::Duration ramp = absl::Seconds(10);          // agents start within that time
  absl::Duration demand_every = absl::Seconds(30);  // mean, for one instance and dependency
  std::uint64_t seed = 1;

  Failures failures = Failures::kNone;
  double failures_per_minute = 30;  // with kCrash
  absl::Duration down = absl::Seconds(20);

  absl::Duration lease = absl::Seconds(10);
  absl::Duration hold_max = absl::Seconds(1);
  absl::Duration etcd_lease = absl::Seconds(5);
  absl::Duration etcd_min = absl::Milliseconds(2);  // one transaction takes between these two
  absl::Duration etcd_max = absl::Milliseconds(10);
  absl::Duration watch_max = absl::Milliseconds(150);  // until a controller has seen a change
  // Confirmations wait so long for further syncs before they start. The product: 0.
  absl::Duration confirm_gather;
  double etcd_requests_per_second = 0;  // what the etcd is assumed to do; 0: nothing is said of it

  int threads = 1;
  int sample = 0;  // only so many of the shards; 0: all
  Sabotage sabotage = Sabotage::kNone;
  // Nanoseconds of CPU or of real time, to measure what the core costs; may be empty. Nothing that
  // happens depends on it.
  std::function<std::int64_t()> stopwatch;
};

// Lists what is out of range. OK if nothing is.
absl::Status Validate(const Options& options);

}  // namespace plimsoll::scale
