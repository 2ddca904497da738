#include <atomic>
#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "agent/examples/demo/gate.h"
#include "agent/examples/demo/setup.h"
#include "plimsoll/agent/agent.h"
#include "plimsoll/agent/metrics.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::demo {
namespace {

constexpr std::chrono::milliseconds kFirstGrantTimeout{5000};
constexpr std::chrono::milliseconds kGrantLook{100};
constexpr std::chrono::seconds kDrainTimeout{2};

class PlimsollPass : public Pass {
 public:
  explicit PlimsollPass(Permit permit) : permit_(std::move(permit)) {}

  absl::Duration time_left() const override { return absl::FromChrono(permit_.time_left()); }
  void End(Outcome outcome) override {
    switch (outcome) {
      case Outcome::kSucceeded:
        return permit_.Succeed();
      case Outcome::kFailed:
        return permit_.Drop();
      case Outcome::kNotSent:
        return permit_.Ignore();
    }
  }

 private:
  Permit permit_;
};

class PlimsollGate : public Gate {
 public:
  PlimsollGate(std::unique_ptr<Agent> agent, const std::string& dependency,
               const std::atomic<bool>& told_to_end)
      : agent_(std::move(agent)), bulkhead_(agent_->bulkhead(dependency)) {
    // Without a grant everything is refused, which the demo shows as well.
    for (auto left = kFirstGrantTimeout; left.count() > 0 && !told_to_end; left -= kGrantLook) {
      if (agent_->WaitUntilGranted(kGrantLook).ok()) break;
    }
  }

  std::unique_ptr<Pass> TryEnter() override {
    Admission admission = bulkhead_.TryAcquire();
    if (!admission) return nullptr;
    return std::make_unique<PlimsollPass>(*std::move(admission));
  }
  int limit() const override { return bulkhead_.limit(); }
  int in_flight() const override { return bulkhead_.in_flight(); }
  GrantFacts grants() const override {
    GrantFacts facts;
    for (const BulkheadSnapshot& snapshot : agent_->Snapshot().bulkheads) {
      if (snapshot.dependency != bulkhead_.dependency()) continue;
      facts.stepped_down = snapshot.stats.stepped_down;
      if (!snapshot.limit_age) continue;
      facts.granted_at = RealClock().Now() - absl::FromChrono(*snapshot.limit_age);
    }
    return facts;
  }
  void Leave() override { agent_->Drain(kDrainTimeout).IgnoreError(); }

 private:
  std::unique_ptr<Agent> agent_;
  Bulkhead& bulkhead_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Gate>> MakePlimsollGate(const std::vector<std::string>& controllers,
                                                       const std::string& instance, bool verbose,
                                                       const std::string& dependency,
                                                       const std::atomic<bool>& told_to_end) {
  AgentOptions options;
  options.controllers = controllers;
  options.service = kService;
  options.instance = instance;
  options.connect_timeout = std::chrono::milliseconds(200);
  // The controller is killed on purpose: its absence is no news here.
  if (!verbose) options.log = [](std::string_view) {};
  absl::StatusOr<std::unique_ptr<Agent>> agent = Agent::Start(std::move(options));
  if (!agent.ok()) return agent.status();
  return std::make_unique<PlimsollGate>(*std::move(agent), dependency, told_to_end);
}

}  // namespace plimsoll::demo
