#pragma once

#include <array>

namespace plimsoll::fleet {

// How calls to one dependency go, as one member of the fleet sees it.
struct Profile {
  const char* dependency;
  double calls_per_second;
  double latency_seconds;  // mean, while it has little to do
  double capacity;         // calls in flight of a member above which they slow each other down
  double slowdown;         // factor of the latency in the slow part of the story
  double failures;         // share of calls that fail in the broken part of it
  bool waits;              // callers wait for a permit
  bool breaks;             // calls go through the breaker of the fleet
};

// Together they have something to show on every panel.
inline constexpr std::array<Profile, 4> kProfiles = {{
    {"payments-db", 90, 0.050, 6, 4, 0.02, true, false},
    {"search-api", 60, 0.030, 6, 3, 0.02, false, false},
    {"ledger-api", 40, 0.040, 8, 1, 0.95, false, true},
    {"geo-cache", 80, 0.010, 2, 2, 0.01, false, false},
}};

// What the controller of the fleet is told. One dependency learns by a gradient, one opens its
// breaker, one is only observed.
inline constexpr char kControllerConfig[] = R"(agents:
  lease: 3s
  hold_max: 300ms
  sync_min: 50ms
dependencies:
  - name: payments-db
    scope: fleet
    algorithm: aimd
    aimd: {latency_threshold: 250ms}
    floor: 2
    ceiling: 40
    initial: 30
    window: {length: 500ms, min_samples: 10}
    call_deadline: 2s
    quota: {capacity: 40}
    outage: {base_lease: 8s}
  - name: search-api
    scope: instance
    algorithm: gradient2
    floor: 2
    ceiling: 30
    initial: 8
    window: {length: 500ms, min_samples: 10}
    call_deadline: 2s
    quota: {capacity: 60}
  - name: ledger-api
    scope: fleet
    algorithm: fixed
    floor: 2
    ceiling: 64
    initial: 48
    window: {length: 500ms, min_samples: 10}
    call_deadline: 2s
    quota: {capacity: 48}
    breaker:
      {consecutive_failures: 10, failure_rate: 0.5, window: 4s, cool_off: 1s, cool_off_max: 2s}
  - name: geo-cache
    scope: instance
    mode: observe
    algorithm: vegas
    floor: 1
    ceiling: 10
    initial: 2
    window: {length: 500ms, min_samples: 10}
    call_deadline: 2s
    quota: {capacity: 24}
)";

}  // namespace plimsoll::fleet
