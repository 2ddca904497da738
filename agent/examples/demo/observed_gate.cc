#include <utility>

#include "agent/examples/demo/gate.h"

namespace plimsoll::demo {
namespace {

class ObservedPass : public Pass {
 public:
  ObservedPass(std::unique_ptr<Pass> pass, std::unique_ptr<Pass> seen)
      : pass_(std::move(pass)), seen_(std::move(seen)) {}

  absl::Duration time_left() const override { return pass_->time_left(); }
  void End(Outcome outcome) override {
    if (seen_ != nullptr) seen_->End(outcome);
    pass_->End(outcome);
  }

 private:
  const std::unique_ptr<Pass> pass_;
  const std::unique_ptr<Pass> seen_;
};

class ObservedGate : public Gate {
 public:
  ObservedGate(std::unique_ptr<Gate> gate, std::unique_ptr<Gate> observer)
      : gate_(std::move(gate)), observer_(std::move(observer)) {}

  std::unique_ptr<Pass> TryEnter() override {
    std::unique_ptr<Pass> pass = gate_->TryEnter();
    if (pass == nullptr) return nullptr;
    return std::make_unique<ObservedPass>(std::move(pass), observer_->TryEnter());
  }
  int limit() const override { return gate_->limit(); }
  int in_flight() const override { return gate_->in_flight(); }
  void Leave() override {
    gate_->Leave();
    observer_->Leave();
  }

 private:
  const std::unique_ptr<Gate> gate_;
  const std::unique_ptr<Gate> observer_;
};

}  // namespace

std::unique_ptr<Gate> MakeObservedGate(std::unique_ptr<Gate> gate, std::unique_ptr<Gate> observer) {
  return std::make_unique<ObservedGate>(std::move(gate), std::move(observer));
}

}  // namespace plimsoll::demo
