// One controller, with its state in a folder.
#include <signal.h>

#include "absl/strings/str_cat.h"
#include "agent/examples/demo/controller_process.h"
#include "tests/integration/chaos/control_plane.h"

namespace plimsoll::chaos {
namespace {

constexpr int kPlace = kPlaces;

class SinglePlane final : public ControlPlane {
 public:
  explicit SinglePlane(const PlaneOptions& options)
      : network_(options.network),
        controller_(options.programs + "/plimsoll-controller", options.folder, options.config,
                    options.network != nullptr ? "0.0.0.0" : "127.0.0.1") {}

  absl::Status Start() override {
    state_.running = true;
    if (network_ == nullptr) return controller_.Start();
    const InNamespace there(network_->place(kPlace), network_->home());
    return there.status().ok() ? controller_.Start() : there.status();
  }
  std::vector<std::string> Urls() const override {
    const std::string host =
        network_ == nullptr ? "127.0.0.1" : ChaosNetwork::ControlAddress(kPlace);
    return {absl::StrCat("http://", host, ":", controller_.agent_port())};
  }
  absl::Status Begin(const Fault& fault) override;
  absl::Status Mend(const Fault& fault) override;
  absl::Status Check() override {
    if (!state_.running || controller_.Running()) return absl::OkStatus();
    return absl::AbortedError("the controller has ended by itself");
  }
  absl::Status Stop() override {
    state_.running = false;
    const int code = controller_.Terminate();
    if (code == 0) return absl::OkStatus();
    return absl::AbortedError(absl::StrCat("the controller ended with exit status ", code));
  }

  void SetConfig(const std::string& config) override {
    controller_.set_config(config);
    if (state_.running) controller_.Signal(SIGHUP);
  }
  bool IsUp() const override { return state_.active(); }
  int ShownQuota() override {
    return QuotaAt(network_ == nullptr ? "127.0.0.1" : ChaosNetwork::DataAddress(kPlace),
                   controller_.api_port());
  }
  const char* Excuse() const override {
    if (!IsUp()) return "the controller did not run";
    return disturbed_ ? "the controller could not be reached" : nullptr;
  }
  std::int64_t ResidentKib() override {
    return controller_.Running() ? ResidentKibOf(controller_.pid()) : 0;
  }

 private:
  ChaosNetwork* const network_;
  demo::ControllerProcess controller_;
  ProcessState state_;
  bool disturbed_ = false;  // its network
};

absl::Status SinglePlane::Begin(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kPauseController:
      state_.paused = true;
      controller_.Signal(SIGSTOP);
      return absl::OkStatus();
    case FaultKind::kKillController:
      state_.running = false;
      controller_.Kill();
      return absl::OkStatus();
    case FaultKind::kRestartController:
      return Stop();
    default:
      disturbed_ = true;
      network_->Set(kPlace, Net::kControl, LinkUnder(fault));
      return absl::OkStatus();
  }
}

absl::Status SinglePlane::Mend(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kPauseController:
      state_.paused = false;
      controller_.Signal(SIGCONT);
      return absl::OkStatus();
    case FaultKind::kKillController:
    case FaultKind::kRestartController:
      return Start();
    default:
      disturbed_ = false;
      network_->Set(kPlace, Net::kControl, LinkState{});
      return absl::OkStatus();
  }
}

}  // namespace

std::unique_ptr<ControlPlane> MakeSinglePlane(const PlaneOptions& options) {
  return std::make_unique<SinglePlane>(options);
}

}  // namespace plimsoll::chaos
