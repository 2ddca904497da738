#pragma once

#include "agent/src/grant_port.h"
#include "tests/scale/shard_world.h"

namespace plimsoll::scale {

// One instance's part of one dependency, in place of a bulkhead: its callers keep as many calls
// running as they want and as are allowed; what runs above the limit runs to its end, at most the
// call deadline, and is not followed by others. Tells the books of every change. Thread-compatible.
class Share final : public internal::GrantPort {
 public:
  // All must outlive it.
  Share(ShardWorld& world, const VirtualClock& clock, std::size_t dependency);

  void Install(const internal::StepFunction& function, Instant now) override;
  void SetObserve(bool /*observe*/) override {}
  void StopAdmitting() override {}
  internal::Measurement Measure(Instant now, absl::Duration interval) override;

  void Want(Calls wanted);
  const Tally& has() const { return has_; }
  std::size_t dependency() const { return dependency_; }

 private:
  // What is in force and what runs are as they must be now.
  void Settle();
  void EndCalls();
  void AwaitStep(Instant now);
  void Become(const Tally& next);

  ShardWorld& world_;
  const VirtualClock& clock_;
  const std::size_t dependency_;
  internal::StepFunction function_;
  Tally has_;
  Calls most_ = 0;       // running, since it was measured
  bool ending_ = false;  // more run than are wanted or allowed
  Instant all_ended_;    // by its own clock
  bool awaits_step_ = false;
};

}  // namespace plimsoll::scale
