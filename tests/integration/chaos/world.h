#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/examples/demo/controller_process.h"
#include "agent/examples/demo/fleet.h"
#include "agent/examples/demo/provider.h"
#include "plimsoll/core/time.h"
#include "tests/integration/chaos/network.h"
#include "tests/integration/chaos/schedule.h"
#include "tests/integration/chaos/witness.h"

namespace plimsoll::chaos {

// Where the controller lives; the replicas have the places before.
inline constexpr int kControllerPlace = kPlaces;

struct WorldOptions {
  std::string programs;  // folder of plimsoll-demo and plimsoll-controller
  std::string folder;    // for configuration, state and logs
  bool keep_logs = false;
  std::uint64_t seed = 1;
  ChaosNetwork* network = nullptr;  // with kControllerPlace + 1 places; null: the loopback device
  // Breaks the promise on which the quota rests: the provider works on, whatever the caller says.
  bool careless_provider = false;
};

// What a replica may be judged by.
struct PlaceView {
  // It runs, and nothing is wrong with it, the controller or the network between the two.
  bool undisturbed = false;
  std::int64_t succeeded = 0;  // calls so far
  int limit = 0;
};

// How long limits outlive the quota under which they were granted, and calls the limits:
// (lease + call deadline) * f, and a second for what happens between a change and its sight.
absl::Duration Hold();
// The same for an instance that is gone: (base lease + call deadline) * f, and a second.
absl::Duration BaseHold();

// The provider in this process, a controller and replicas in processes of their own, and what goes
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
  demo::Report Total() const { return fleet_->Total(); }
  const demo::Provider& provider() const { return provider_; }
  demo::Provider& provider() { return provider_; }
  const QuotaWitness& quota() const { return quota_; }
  int quota_changes() const { return quota_changes_; }
  // Changes that the controller did not show within 5 s in which it could have.
  int unsupported_changes() const { return unsupported_changes_; }
  std::int64_t packets_carried() const;
  std::int64_t packets_lost() const;
  // Resident memory of the controller in KiB; 0 if it does not run.
  std::int64_t controller_kib();

 private:
  struct Process {
    bool wanted = false;   // should run
    bool running = false;  // was started, and not told to end
    bool paused = false;
    bool disturbed = false;  // its network
    Instant told_to_end;
  };

  absl::Status StartController();
  absl::Status StartReplica(int place);
  void KillReplica(int place);
  void EndReplica(int place);
  void Pause(int place, bool paused);
  void Disturb(const Fault& fault, bool on);
  absl::Status BeginAtController(const Fault& fault);
  void ChangeQuota(int quota);
  absl::Status CheckReplica(int place);
  void LookAtQuota();
  int ShownQuota() const;
  bool ControllerIsUp() const;
  const demo::ChildProcess* child(int place) const;
  std::string Config(int quota) const;

  const WorldOptions options_;
  ChaosNetwork* const network_;
  demo::Provider provider_;
  demo::ControllerProcess controller_;
  std::unique_ptr<demo::Fleet> fleet_;
  std::array<Process, kPlaces> replicas_;
  Process controller_state_;

  QuotaWitness quota_;
  int quota_changes_ = 0;
  int unsupported_changes_ = 0;
  bool counted_unsupported_ = false;
  absl::Duration asked_in_vain_;  // time the controller was up since the change
  Instant looked_at_;
};

}  // namespace plimsoll::chaos
