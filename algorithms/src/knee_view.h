#pragma once

#include <cstdint>
#include <vector>

#include "plimsoll/algorithms/fleet_knee.h"

namespace plimsoll::internal {

// What an epoch says of one replica.
struct ReplicaView {
  bool seen = false;       // it had traffic, and said so
  bool saturated = false;  // it met its limit
  double x = 0;            // calls per second that ended well
  double n = 0;            // mean calls in flight
  double ln_r = 0;         // ln of the latency in seconds; of those with calls that ended
  bool ended = false;      // some calls ended
  bool steady = false;     // under one limit all the time
};

// What an epoch says of the pool.
struct EpochView {
  std::vector<ReplicaView> replicas;
  double x = 0;
  double n = 0;
  double ended_per_second = 0;
  std::int64_t ended = 0;
  std::int64_t failed = 0;
  int seen = 0;
  int saturated = 0;
  double saturated_share = 0;  // of the replicas, or of the calls if they share
  bool binding = false;        // enough of them met their limit for the level to matter
  bool latency_known = false;
  double ln_r = 0;  // of the median replica, or of all if they share; while it is known

  double failed_share() const {
    return ended > 0 ? static_cast<double>(failed) / static_cast<double>(ended) : 0;
  }
};

EpochView LookAt(const KneeEpoch& epoch, const KneeState& state, KneeMode mode);

}  // namespace plimsoll::internal
