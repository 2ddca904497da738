#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/examples/demo/controller_process.h"
#include "tests/integration/chaos/control_plane.h"
#include "tests/integration/chaos/etcd_member.h"
#include "tests/integration/chaos/leader_watch.h"

namespace plimsoll::chaos {

// Several controllers, of which one leads, and the members of their etcd: elected_plane.cc starts
// and watches them, elected_faults.cc does things to them.
class ElectedPlane final : public ControlPlane {
 public:
  explicit ElectedPlane(const PlaneOptions& options);

  absl::Status Start() override;
  std::vector<std::string> Urls() const override;
  absl::Status Begin(const Fault& fault) override;
  absl::Status Mend(const Fault& fault) override;
  absl::Status Check() override;
  absl::Status Stop() override;

  void SetConfig(const std::string& config) override;
  bool IsUp() const override;
  int ShownQuota() override;
  const char* Excuse() const override;
  PlaneFigures Figures() const override {
    return {watch_->epochs(), watch_->stalls(), absl::ToDoubleSeconds(watch_->longest_stall())};
  }
  std::int64_t ResidentKib() override;
  // After Start().
  const LeaderWatch& watch() const { return *watch_; }

 private:
  enum class Trouble { kNone, kDisturbed, kCut };

  struct Controller {
    std::unique_ptr<demo::ControllerProcess> process;
    ProcessState state;
    Trouble agents = Trouble::kNone;  // its links
    Trouble etcd = Trouble::kNone;
    std::string config_hash;  // of the newest configuration
  };

  struct Member {
    std::unique_ptr<EtcdMember> process;
    ProcessState state;
    bool disturbed = false;  // its links
  };

  int Place(int controller) const { return kPlaces + controller; }
  int MemberPlace(int member) const { return kPlaces + options_.controllers + member; }
  // Under which others find a place in a net, and this process finds it.
  std::string Address(int place, Net net) const;
  std::string DataAddress(int place) const;
  std::string ConfigOf(int controller, const std::string& config) const;
  void Write(int controller, const std::string& config);
  void MakeMembers();
  void MakeControllers();
  absl::Status StartController(int index);
  absl::Status StartMember(int index);
  absl::Status In(int place, const std::function<absl::Status()>& start) const;

  std::vector<int> Resolve(const Fault& fault) const;
  absl::Status BeginAtController(const Fault& fault, int index);
  void BeginAtMember(const Fault& fault, int index);
  absl::Status MendController(const Fault& fault, int index);
  absl::Status MendMember(const Fault& fault, int index);
  void SetLinks(const Fault& fault, int index, bool on);
  void LookAtQuorum();
  void Say(const std::string& line) const {
    if (options_.say) options_.say(line);
  }

  Controller& controller(int index) { return controllers_[static_cast<std::size_t>(index)]; }
  Member& member(int index) { return members_[static_cast<std::size_t>(index)]; }

  const PlaneOptions options_;
  ChaosNetwork* const network_;
  const std::string loopback_;  // the first three bytes, without a network
  std::vector<Controller> controllers_;
  std::vector<Member> members_;
  // Whom the present faults hit: one of the controllers and one of etcd at a time.
  std::vector<int> hit_controllers_;
  std::vector<int> hit_members_;
  std::unique_ptr<LeaderWatch> watch_;
  // Killed members were too many, and etcd has not answered since.
  bool quorum_lost_ = false;
  Instant quorum_back_at_;
};

}  // namespace plimsoll::chaos
