#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tests/integration/chaos/network.h"
#include "tests/integration/chaos/schedule.h"

namespace plimsoll::chaos {

// How long what is granted stays in force. With several controllers the lease of the one that leads
// ends first, and an election is over before that of the agents is.
struct Timing {
  absl::Duration lease;
  absl::Duration base_lease;
  absl::Duration leader_lease;  // with several controllers
};
Timing TimingOf(int controllers);

// How long limits outlive the quota under which they were granted, and calls the limits:
// (lease + call deadline) * f, and a second for what happens between a change and its sight.
absl::Duration Hold(const Timing& timing);
// The same for an instance that is gone: (base lease + call deadline) * f, and a second.
absl::Duration BaseHold(const Timing& timing);
inline constexpr double kClockDrift = 0.01;

// What can be told of it beside its verdicts.
struct PlaneFigures {
  int epochs = 0;  // of the controllers that led
  int stalls = 0;  // of etcd, of more than a second
  double longest_stall = 0;
};

// What grants: one controller, or several and their etcd; in processes of their own, with what goes
// wrong with them. Confined to the main thread.
class ControlPlane {
 public:
  virtual ~ControlPlane() = default;

  // Returns when agents may come.
  virtual absl::Status Start() = 0;
  // Where agents find the controllers.
  virtual std::vector<std::string> Urls() const = 0;
  virtual absl::Status Begin(const Fault& fault) = 0;
  virtual absl::Status Mend(const Fault& fault) = 0;
  // Fails if a process has ended that should not have.
  virtual absl::Status Check() = 0;
  // Ends everything in good order.
  virtual absl::Status Stop() = 0;

  // All of the configuration but where to listen and where the state is.
  virtual void SetConfig(const std::string& config) = 0;
  // Whether the quota in force can be asked for, and what it is; 0 if nobody says, or not all that
  // may grant have the newest configuration.
  virtual bool IsUp() const = 0;
  virtual int ShownQuota() = 0;

  // Why agents with whom all is well may get no grants now; null if nothing keeps them from it.
  virtual const char* Excuse() const = 0;
  virtual PlaneFigures Figures() const { return {}; }
  // Resident memory of what leads in KiB; 0 if it does not run.
  virtual std::int64_t ResidentKib() = 0;
};

struct PlaneOptions {
  std::string programs;             // folder of plimsoll-controller
  std::string folder;               // for configuration, state and logs
  ChaosNetwork* network = nullptr;  // null: the loopback device
  std::string config;
  int controllers = 1;
  int members = 0;
  Timing timing;
  std::function<void(const std::string& line)> say;  // who it was; may be empty
  bool slow_election = false;  // etcd keeps leases for longer than agents have them
};

// The places after those of the replicas: controllers first, then members of etcd.
std::vector<std::vector<Net>> PlacesFor(int controllers, int members);

std::unique_ptr<ControlPlane> MakeSinglePlane(const PlaneOptions& options);
// With members of etcd.
std::unique_ptr<ControlPlane> MakeElectedPlane(const PlaneOptions& options);

// The program; empty if it is not there.
std::string EtcdProgram();

// Of a process of ours.
struct ProcessState {
  bool running = false;  // was started, and not told to end
  bool paused = false;

  bool active() const { return running && !paused; }
};

// What the fault does to a link that it is about.
LinkState LinkUnder(const Fault& fault);
std::int64_t ResidentKibOf(int process);
// The quota that a controller shows at this address; 0 if it does not say.
int QuotaAt(const std::string& host, int port);

}  // namespace plimsoll::chaos
