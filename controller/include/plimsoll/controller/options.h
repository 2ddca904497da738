#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "plimsoll/core/protocol.h"

namespace plimsoll {

// Settings of the controller core that hold for all dependencies.
struct CoreOptions {
  // How long a limit holds without renewal, counted from when the agent asked. Shorter frees the
  // share of a dead instance sooner, and makes a slow controller be felt sooner.
  absl::Duration lease = absl::Seconds(10);  // [500 ms, 10 min]
  // The longest time the answer to a sync is held back. It costs lease time, so at most a third of
  // lease - 1 s, or a tenth of the lease if that is less.
  absl::Duration hold_max = absl::Seconds(1);
  // The shortest time from an answer to the next sync of that agent.
  absl::Duration sync_min = absl::Milliseconds(50);
  // How often shares are computed anew. Smaller follows demand faster, at more CPU.
  absl::Duration tick = absl::Milliseconds(250);  // [10 ms, 10 s]
  // Bound on how wrong the rate of any process' clock may be. Holds are stretched by
  // (1 + e) / (1 - e). Quartz is good for 0.0002.
  double clock_rate_error = 0.01;  // [0, 0.2]
  int sessions_max = 10'000;       // registrations above are refused
  // Of one session; and how many templates may make, all sessions together.
  int dependencies_max = 200;
  int events_keep = 10'000;  // of the decision log
  // About how many raised bounds a write has at most, so that the first of many raises need not
  // wait for the last. Of the writes that follow at once, because more raises wait, each may have
  // three times as many as the one before: it is written while those are sent.
  int raises_per_write = 1000;  // at least 1
  // The versions of the protocol that are spoken here; all that the build knows, but in tests of
  // mixed versions.
  ProtocolRange protocol;
  // For the jitter of holds. Same seed and same events, same actions.
  std::uint64_t seed = 1;
};

// Lists every violation as name, value and rule. OK if there is none.
absl::Status Validate(const CoreOptions& options);

}  // namespace plimsoll
