#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plimsoll/algorithms/config.h"
#include "plimsoll/core/random.h"
#include "plimsoll/core/reason.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

// The pool law fleet_knee: it finds the knee of throughput against concurrency by moving limits on
// purpose, a little and in a coordinated way, and looking what throughput does.
//
// While a limit binds, n = X * R (Little). So with the elasticity e = d ln X / d ln n, latency
// grows with elasticity 1 - e, and "one per cent more in flight buys theta per cent more
// throughput" is where Kleinrock's power X / R^b peaks, for b = theta / (1 - theta). The rule needs
// no baseline latency: e near 1 means that nothing queues, e near 0 that added calls only wait, e
// below 0 that they do harm. Nothing else tells a capacity that fell (e = 0) from a network that
// became slower (e = 1): both times the same calls in flight give less throughput at more latency.

// Whose limits are moved against each other.
enum class KneeMode {
  // The replicas share one dependency: `level` is the sum of their limits, and is moved as a whole,
  // because a replica that moves alone takes from the others and sees e = 1 - (n_i/n)(1 - e_all).
  kShared,
  // Each replica has its own: `level` is the limit of a replica of weight 1. Half of the replicas
  // go up while the others go down, so the fleet does not move, and what happens to all of them at
  // once cancels. A pool with less than two replicas that can be compared goes as if it were
  // shared.
  kPerReplica,
};

// What one replica measured in one epoch.
struct ReplicaEpoch {
  absl::Duration length;       // on the replica's clock; zero: nothing is known of this replica
  Calls limit = 0;             // in force
  std::int64_t succeeded = 0;  // calls that ended well
  std::int64_t failed = 0;     // calls that ended by overload
  std::int64_t rejected = 0;   // calls refused by the limit
  absl::Duration in_flight;    // integral of the calls in flight over time
  absl::Duration at_limit;     // how long the limit was reached
  bool steady = true;          // all of it under one limit; otherwise it shows no elasticity
};

// A measurement epoch that is over.
struct KneeEpoch {
  std::vector<ReplicaEpoch> replicas;  // by index, as many as the state has
  absl::Duration latency;     // what the policy's window names, of all calls; zero: unknown
  Calls cap = kCallsMax;      // quota or ceiling: what limits are made from is not above it
  std::optional<int> live;    // replicas that are heard of; nothing: all that are present
  double drop_tolerance = 1;  // a larger share of failed calls brakes at once
  bool enforced = true;       // otherwise limits do not move, and moving them teaches nothing
};

// What a closed epoch led to.
enum class KneeOutcome {
  kRaised,
  kLowered,
  kHeld,           // the knee is here, as far as can be told
  kUndecided,      // the first half of a pair, or still too uncertain
  kAtCap,          // the knee is above the quota or the ceiling
  kChanged,        // latency moved by itself: what was learnt is forgotten, and learnt anew
  kNotBinding,     // too few replicas use their limits: nothing can be learnt, nothing changes
  kTooFewSamples,  // too few calls ended
  kBraked,         // too many calls failed by overload
  kAboveTarget,    // latency is above the target of the policy
  kObserving,      // limits are not enforced: the level stays
};
// "raised" and so on, for logs; of static storage.
std::string_view ToString(KneeOutcome outcome);

struct KneeDecision {
  KneeOutcome outcome = KneeOutcome::kUndecided;
  Reason reason = Reason::kInitial;  // of a level that moved; else why it stayed
  double before = 0;                 // the level, as far as the cap allows
  double after = 0;
  // The inputs, for explanations.
  std::optional<double> elasticity;  // once there are enough pairs
  double elasticity_error = 0;       // its standard error
  double throughput = 0;             // calls per second that ended well, all replicas
  double in_flight = 0;              // mean, all replicas
  absl::Duration latency;            // in flight / throughput, of the median replica
  absl::Duration baseline;           // certified latency without a queue; zero if unknown
  double failed_share = 0;
  double saturated_share = 0;  // share of the replicas (shared: of the calls) that meet their limit
  std::int64_t samples = 0;
};

// Sums from which the elasticity is estimated: instrumental variables (Wald), the assigned code is
// the instrument. Older pairs are forgotten bit by bit.
struct ElasticitySums {
  double x = 0;          // of the changes of ln X, signed by the code
  double n = 0;          // of the changes of ln n
  double residuals = 0;  // squared
  double count = 0;      // pairs, weighted

  // A pair of epochs: half the change of ln X and of ln n from code -1 to code +1. A residual
  // beyond three standard deviations is cut there.
  void Add(double dx, double dn);
  void Scale(double by);
  bool known() const { return n > 0; }
  double elasticity() const { return x / n; }  // requires known()
  double error() const;                        // requires known()
  friend bool operator==(const ElasticitySums&, const ElasticitySums&) = default;
};

// Of one replica. Indexes stay what they are while a replica is there.
struct KneeReplica {
  bool present = false;
  double weight = 1;  // relative capacity; the mean of those present is 1
  int base_code = 0;  // of this pair's first epoch
  // First epoch of the pair: whether it met its limit, calls per second and mean in flight.
  bool first_seen = false;
  bool first_saturated = false;
  double first_x = 0;
  double first_n = 0;
  int deviant_epochs = 0;  // how long it has been slower than the others, in a row
  ElasticitySums own;      // for a replica that is saturated alone
};

// Everything that was learnt: a value.
struct KneeState {
  explicit KneeState(std::uint64_t seed) : random(seed) {}

  double level = 0;
  double cap = kCallsMax;  // of the last epoch; the level outlives it
  std::vector<KneeReplica> replicas;
  std::vector<std::size_t> free;  // indexes of those who are not present
  int present = 0;
  Random random;

  double baseline = 0;  // seconds; certified latency without a queue; 0: unknown
  ElasticitySums sums;
  double dither = 0.1;  // in use
  double dither_base = 0.1;
  int loud = 0;     // epochs left with a louder dither
  int resting = 0;  // epochs left without one
  bool dithering = false;
  std::optional<double> reference;  // ln of the latency at this level
  int alarms = 0;
  bool second_of_pair = false;
  bool first_usable = false;  // the pair's first epoch says something
  int base_sign = 1;          // of the total in the pair's first epoch
  int lowered = 0;            // since the last raise
  int raised = 0;             // in a row
  // Overload errors: by how much the last brake did not help.
  double braked_share = 0;
  int vain_brakes = 0;
  int brakes_off = 0;  // epochs left in which errors do not brake

  double epoch_seconds = 0.5;  // how long the next epoch should be
  double latency = 0.05;       // seconds, of the last epoch

  // What limits are made from.
  double working() const { return std::min(level, cap); }
};

// Pure: no clock, no I/O; randomness is part of the state. Thread-safe, but for the state.
//
// One epoch after the other:
//   limits of the state in force everywhere → Settle() passes → EpochLength() passes → Close()
class FleetKnee {
 public:
  // Bounds, initial level and FleetKneeConfig of `config` hold. Valid configurations only: see
  // MakeFleetKnee.
  FleetKnee(const AlgorithmConfig& config, KneeMode mode);

  KneeState InitialState(std::uint64_t seed) const;
  // A replica comes: returns its index. O(1).
  std::size_t Add(KneeState& state) const;
  // It goes: what the pair under way says is void for it, and for it alone.
  void Remove(KneeState& state, std::size_t replica) const;

  // The limit for one replica: per replica only.
  Calls Limit(const KneeState& state, std::size_t replica) const;
  // The limit of all together: shared only.
  Calls Total(const KneeState& state) const;

  // How long the next epoch should be, and how long after the limits are in force it should begin.
  absl::Duration EpochLength(const KneeState& state) const;
  absl::Duration Settle(const KneeState& state) const;
  // How many calls must have ended in it, of `live` replicas that are heard of.
  std::int64_t SamplesMin(int live) const;

  // Ends an epoch: learns from it, and sets the limits of the next.
  KneeDecision Close(KneeState& state, const KneeEpoch& epoch) const;

  KneeMode mode() const { return mode_; }

 private:
  const AlgorithmConfig config_;
  const KneeMode mode_;
};

// kInvalidArgument if Validate(config) finds faults or the kind is another.
absl::StatusOr<FleetKnee> MakeFleetKnee(const AlgorithmConfig& config, KneeMode mode);

}  // namespace plimsoll
