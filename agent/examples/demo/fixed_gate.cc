#include <atomic>
#include <chrono>
#include <thread>

#include "agent/examples/demo/gate.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::demo {
namespace {

class FixedPass : public Pass {
 public:
  FixedPass(std::atomic<int>& in_flight, absl::Duration call_deadline)
      : in_flight_(in_flight), deadline_(RealClock().Now() + call_deadline) {}

  absl::Duration time_left() const override { return deadline_ - RealClock().Now(); }
  void End(Outcome) override { in_flight_.fetch_sub(1); }

 private:
  std::atomic<int>& in_flight_;
  const Instant deadline_;
};

class FixedGate : public Gate {
 public:
  FixedGate(int limit, absl::Duration call_deadline)
      : limit_(limit), call_deadline_(call_deadline) {}

  std::unique_ptr<Pass> TryEnter() override {
    if (in_flight_.fetch_add(1) >= limit_) {
      in_flight_.fetch_sub(1);
      return nullptr;
    }
    return std::make_unique<FixedPass>(in_flight_, call_deadline_);
  }
  int limit() const override { return limit_; }
  int in_flight() const override { return in_flight_.load(); }
  void Leave() override {
    while (in_flight() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

 private:
  const int limit_;
  const absl::Duration call_deadline_;
  std::atomic<int> in_flight_{0};
};

}  // namespace

std::unique_ptr<Gate> MakeFixedGate(int limit, absl::Duration call_deadline) {
  return std::make_unique<FixedGate>(limit, call_deadline);
}

}  // namespace plimsoll::demo
