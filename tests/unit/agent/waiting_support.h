#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent/src/limiter.h"
#include "tests/unit/agent/limiter_support.h"
#include "tests/unit/agent/manual_clock.h"
#include "tests/unit/agent/manual_timers.h"

namespace plimsoll {

inline BulkheadOptions WithQueue(int capacity) {
  BulkheadOptions options;
  options.queue.capacity = capacity;
  return options;
}

// A limiter with a queue, a clock that stands still, and timers that run by hand.
class WaitingTest : public ::testing::Test {
 protected:
  static constexpr std::chrono::seconds kWait{10};

  // Who still waits is told before the places where answers and permits go are gone.
  void TearDown() override {
    if (limiter_ != nullptr) limiter_->Drain();
  }
  void Make(const BulkheadOptions& options, Calls limit) {
    limiter_ = LimiterPtr(internal::Limiter::Make(clock_, options, &timers_));
    Grant(limit);
  }
  void Grant(Calls limit) {
    limiter_->Install(MakeFunction(++seq_, limit, clock_), clock_.Now());
    timers_.RunDue(clock_.Now());
  }
  // Advances, and runs what is due.
  void Pass(absl::Duration duration) {
    clock_.Advance(duration);
    timers_.RunDue(clock_.Now());
    if (limiter_ != nullptr && limiter_->queue() != nullptr) limiter_->queue()->LookAgain();
  }
  CallOptions Waits(int cost = 1, int priority = 0) const {
    CallOptions options;
    options.cost = cost;
    options.priority = priority;
    options.wait = kWait;
    return options;
  }
  Deadline In(absl::Duration left) const {
    return Deadline::FromLeaseClock((clock_.Now() + left).ns);
  }

  // Asks without blocking. The answer goes to answers_, and a permit to permits_, under the name.
  void Ask(const std::string& name, const CallOptions& options) {
    limiter_->AcquireAsync(
        options, [this, name](Admission admission) { Note(name, std::move(admission)); },
        CallSite::Here());
  }
  void Ask(const std::string& name) { Ask(name, Waits()); }
  void Note(const std::string& name, Admission admission) {
    answers_.push_back(name + ": " +
                       (admission ? "in" : std::string(ToString(admission.rejection()))));
    if (admission) permits_.emplace(name, *std::move(admission));
  }
  void End(const std::string& name) {
    const auto node = permits_.extract(name);
    ASSERT_FALSE(node.empty()) << name;
    node.mapped().Succeed();
  }
  // The answers since the last time.
  std::vector<std::string> Answers() { return std::exchange(answers_, {}); }
  std::int64_t waiting() const { return limiter_->Stats().waiting; }
  void AwaitWaiting(std::int64_t units) const {
    while (waiting() != units) std::this_thread::yield();
  }

  ManualClock clock_;
  ManualTimers timers_;
  LimiterPtr limiter_;
  std::vector<std::string> answers_;
  std::map<std::string, Permit> permits_;
  std::int64_t seq_ = 0;
};

}  // namespace plimsoll
