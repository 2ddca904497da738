#include "tests/integration/chaos/control_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace plimsoll::chaos {
namespace {

constexpr double kLong = 3000;

ScheduleOptions Options(std::uint64_t seed, double seconds = kLong) {
  ScheduleOptions options;
  options.seed = seed;
  options.seconds = seconds;
  options.controllers = 3;
  options.members = 3;
  return options;
}

std::vector<Fault> Control(std::uint64_t seed, double seconds = kLong) {
  return MakeControlSchedule(Options(seed, seconds));
}

bool OfEtcd(const Fault& fault) { return FactsOf(fault.kind).victim == Victim::kEtcd; }

TEST(ControlScheduleTest, IsTheSameForTheSameSeedOnly) {
  EXPECT_EQ(Control(7), Control(7));
  EXPECT_NE(Control(7), Control(8));
}

TEST(ControlScheduleTest, HasEveryKindOfFaultOfControllersAndEtcdAndNoOther) {
  std::set<FaultKind> kinds;
  for (const Fault& fault : Control(3)) kinds.insert(fault.kind);
  for (int k = 0; k < kFaultKinds; ++k) {
    const auto kind = static_cast<FaultKind>(k);
    const Victim victim = FactsOf(kind).victim;
    EXPECT_EQ(kinds.contains(kind), victim == Victim::kController || victim == Victim::kEtcd)
        << Name(kind);
  }
}

TEST(ControlScheduleTest, HitsLeadersAndOthersInOneWayAndBoth) {
  std::set<int> targets;
  std::set<Way> ways;
  for (const Fault& fault : Control(4)) {
    targets.insert(fault.targets.at(0));
    if (HasWay(fault.kind)) ways.insert(fault.way);
  }
  EXPECT_EQ(targets, (std::set<int>{kLeader, 0, 1, 2}));
  EXPECT_EQ(ways.size(), 3U);
}

TEST(ControlScheduleTest, HitsControllersAndEtcdOnceAtATime) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    double until[2] = {0, 0};
    for (const Fault& fault : Control(seed)) {
      double& busy = until[OfEtcd(fault) ? 1 : 0];
      EXPECT_LE(busy + kControlRest, fault.at) << Describe(fault);
      busy = fault.end();
    }
  }
}

// What is promised is an election that is over before leases are: after one failure, not two.
TEST(ControlScheduleTest, LeavesTimeToRecover) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const std::vector<Fault> faults = Control(seed);
    for (std::size_t i = 0; i + 1 < faults.size(); ++i) {
      const Fault& next = faults[i + 1];
      EXPECT_GE(next.at, faults[i].at + kControlGap) << Describe(next);
      for (std::size_t j = 0; j <= i; ++j) {
        const bool is_over = faults[j].end() <= next.at;
        EXPECT_TRUE(!is_over || faults[j].end() + kControlRest <= next.at) << Describe(next);
      }
    }
  }
}

TEST(ControlScheduleTest, LosesQuorumsForLongerThanTheLeaseAndPausesThemForLess) {
  for (const Fault& fault : Control(5)) {
    if (fault.end() > kLong - 1) continue;  // cut short by the end
    if (fault.kind == FaultKind::kLoseQuorum) {
      EXPECT_GT(fault.seconds, 6);
    }
    if (fault.kind == FaultKind::kPauseQuorum) {
      EXPECT_LT(fault.seconds, 3);
    }
  }
}

TEST(ControlScheduleTest, MendsEverythingInTime) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const Fault& fault : Control(seed, 45)) EXPECT_LE(fault.end(), 45) << Describe(fault);
  }
}

TEST(ControlScheduleTest, HasNoNetworkFaultWithoutANetwork) {
  ScheduleOptions options = Options(3);
  options.network = false;
  const std::vector<Fault> schedule = MakeControlSchedule(options);
  EXPECT_FALSE(schedule.empty());
  EXPECT_TRUE(std::none_of(schedule.begin(), schedule.end(),
                           [](const Fault& fault) { return NeedsNetwork(fault.kind); }));
}

TEST(ControlScheduleTest, IsPartOfTheScheduleWithSeveralControllers) {
  const std::vector<Fault> all = MakeSchedule(Options(6, 100));
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                             [](const Fault& a, const Fault& b) { return a.at < b.at; }));
  std::vector<Fault> control;
  for (const Fault& fault : all) {
    const Victim victim = FactsOf(fault.kind).victim;
    if (victim == Victim::kController || victim == Victim::kEtcd) control.push_back(fault);
  }
  EXPECT_EQ(control, Control(6, 100));
  EXPECT_GT(all.size(), control.size() * 2) << "replicas have their faults as well";
}

}  // namespace
}  // namespace plimsoll::chaos
