#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/examples/demo/fleet.h"
#include "agent/examples/demo/provider.h"
#include "plimsoll/core/time.h"
#include "tests/integration/chaos/control_plane.h"
#include "tests/integration/chaos/grants.h"
#include "tests/integration/chaos/network.h"
#include "tests/integration/chaos/schedule.h"
#include "tests/integration/chaos/witness.h"

namespace plimsoll::chaos {

struct WorldOptions {
  std::string programs;  // folder of plimsoll-demo and plimsoll-controller
  std::string folder;    // for configuration, state and logs
  bool keep_logs = false;
  std::uint64_t seed = 1;
  ChaosNetwork* network = nullptr;  // with the places of PlacesFor(); null: the loopback device
  int controllers = 1;
  int members = 0;  // of etcd
  Timing timing;
  std::function<void(const std::string& line)> say;  // may be empty
  // Breaks the promise on which the quota rests: the provider works on, whatever the caller says.
  bool careless_provider = false;
  // Breaks the promise on which timely grants rest: etcd keeps leases for longer than agents do.
  bool slow_election = false;
};

// What a replica may be judged by.
struct PlaceView {
  // It runs, and nothing is wrong with it, the controller or the network between the two.
  bool undisturbed = false;
  std::int64_t succeeded = 0;  // calls so far
  int limit = 0;
};

// The provider in this process, controllers and replicas in processes of their own, and what goes
// wrong with them. Confined to the thread that made it, which has to be the main thread.
class World {
 public:
  explicit World(const WorldOptions& options);

  // Returns when all replicas have reported.
  absl::Status Start();
  absl::Status Begin(const Fault& fault);
  absl::Status Mend(const Fault& fault);
  // Lets a moment pass. Fails if a process has ended that should not have.
  absl::Status Step(absl::Duration wait);
  // Ends everything in good order; fails if something does not.
  absl::Status Stop();

  std::vector<PlaceView> Places() const;  // the members, without those that join in a surge
  // Of the same, in seconds since `start`.
  std::vector<GrantSight> Grants(Instant start) const;
  demo::Report Total() const { return fleet_->Total(); }
  const demo::Provider& provider() const { return provider_; }
  demo::Provider& provider() { return provider_; }
  const QuotaWitness& quota() const { return quota_; }
  int quota_changes() const { return quota_changes_; }
  // Changes that the controller did not show within 5 s in which it could have.
  int unsupported_changes() const { return unsupported_changes_; }
  std::int64_t packets_carried() const;
  std::int64_t packets_lost() const;
  PlaneFigures plane() const { return plane_->Figures(); }
  // Resident memory of the controller, or the first of several, in KiB; 0 if it does not run.
  std::int64_t controller_kib() { return plane_->ResidentKib(); }

 private:
  struct Process {
    bool wanted = false;   // should run
    bool running = false;  // was started, and not told to end
    bool paused = false;
    bool disturbed = false;  // its network
    Instant told_to_end;
  };

  absl::Status StartReplica(int place);
  void KillReplica(int place);
  void EndReplica(int place);
  void Pause(int place, bool paused);
  void Disturb(const Fault& fault, bool on);
  void ChangeQuota(int quota);
  absl::Status CheckReplica(int place);
  void LookAtQuota();
  const demo::ChildProcess* child(int place) const;
  std::string Config(int quota) const;

  const WorldOptions options_;
  ChaosNetwork* const network_;
  demo::Provider provider_;
  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<demo::Fleet> fleet_;
  std::array<Process, kPlaces> replicas_;

  QuotaWitness quota_;
  int quota_changes_ = 0;
  int unsupported_changes_ = 0;
  bool counted_unsupported_ = false;
  absl::Duration asked_in_vain_;  // time the controller was up since the change
  Instant looked_at_;
};

}  // namespace plimsoll::chaos
