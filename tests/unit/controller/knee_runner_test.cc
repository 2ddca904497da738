// What the epochs of the pool law are made of.
#include "controller/src/knee_runner.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "controller/src/state.h"
#include "tests/support/core_driver.h"

namespace plimsoll {
namespace {

using internal::DependencyState;
using internal::KneeRunner;
using internal::Member;

constexpr absl::Duration kStep = absl::Milliseconds(100);
constexpr Epoch kReign{8};

Policy PolicyOf(Scope scope) {
  Policy policy = testing::TestPolicy("db", 400);
  policy.algorithm.kind = AlgorithmKind::kFleetKnee;
  policy.scope = scope;
  return policy;
}

// Members that have installed what they were sent, and meet their limits: ten times a second each
// says how the last tenth was.
class KneeRunnerTest : public ::testing::Test {
 protected:
  void Begin(Scope scope, int members) {
    const Policy policy = PolicyOf(scope);
    dependency_ = std::make_unique<DependencyState>(
        policy, internal::LedgerTerms{absl::Seconds(10), absl::Seconds(60), policy.call_deadline});
    runner_ = std::make_unique<KneeRunner>(policy, kReign, 1, now_);
    for (int i = 0; i < members; ++i) {
      const SessionId id("8-" + std::to_string(i));
      Member& member = dependency_->members.Emplace(id, now_);
      runner_->Join(member);
      members_.push_back(&member);
      member.sent.limit = member.offer = 10;
      Install(member, Seq(1));
    }
  }

  void Install(Member& member, Seq seq) {
    member.sent_seq = member.changed_seq = seq;
    member.installed = {kReign, seq};
  }

  // In one latency of 10 ms everybody in flight ends.
  Window MakeWindow(const Member& member, absl::Duration length) const {
    Window window;
    window.stamp = member.installed;
    window.length = window.at_limit = length;
    window.in_flight = member.in_force.limit * length;
    window.succeeded = window.in_flight / absl::Milliseconds(10);
    window.rejected[static_cast<std::size_t>(RejectReason::kLimit)] = 100;
    return window;
  }

  void Report(Member& member, const Window& window) {
    member.reported_at = now_;
    runner_->Gather(member, window);
    runner_->NoteReport(member);
  }

  KneeRunner::Step Step() {
    now_ = now_ + kStep;
    for (Member* member : members_) {
      if (!runner_->shared()) member->sent.limit = member->offer = runner_->LimitOf(*member);
      member->in_force = member->sent;
      Report(*member, MakeWindow(*member, kStep));
    }
    return runner_->Advance(*dependency_, now_, true);
  }

  KneeDecision Run() {
    while (Step() != KneeRunner::Step::kDecided) {
    }
    return *runner_->last_decision();
  }

  Instant now_{1'000'000'000};
  std::unique_ptr<DependencyState> dependency_;
  std::unique_ptr<KneeRunner> runner_;
  std::vector<Member*> members_;
};

TEST_F(KneeRunnerTest, DifferencesBetweenMembersShowAnElasticity) {
  Begin(Scope::kInstance, 8);
  int known = 0;
  for (int i = 0; i < 10; ++i) known += Run().elasticity.has_value() ? 1 : 0;
  EXPECT_GT(known, 0);
}

TEST_F(KneeRunnerTest, WhoWasSentAnotherLimitMeanwhileIsNotCompared) {
  Begin(Scope::kInstance, 8);
  for (std::int64_t seq = 2; seq < 200; ++seq) {
    Step();
    for (Member* member : members_) Install(*member, Seq(seq));
    if (!runner_->last_decision().has_value()) continue;
    EXPECT_FALSE(runner_->last_decision()->elasticity.has_value());
  }
}

TEST_F(KneeRunnerTest, WhatWasMeasuredBeforeTheLimitWasInstalledDoesNotCount) {
  Begin(Scope::kFleet, 3);
  Run();
  ASSERT_LT(Run().samples, 1'000'000);
  Member* const late = members_.back();
  late->sent_seq = Seq(2);
  members_.pop_back();
  for (int i = 0; i < 5; ++i) Step();
  Window window = MakeWindow(*late, 5 * kStep);
  window.succeeded = 1'000'000;
  Report(*late, window);
  EXPECT_LT(Run().samples, 1'000'000);
}

TEST_F(KneeRunnerTest, WhoMeasuredForLongerThanTheEpochIsLeftOut) {
  Begin(Scope::kFleet, 3);
  Run();
  const std::int64_t all = Run().samples;
  Window window = MakeWindow(*members_[0], absl::Minutes(1));
  while (Step() != KneeRunner::Step::kDecided) Report(*members_[0], window);
  EXPECT_LE(runner_->last_decision()->samples, all);
}

}  // namespace
}  // namespace plimsoll
