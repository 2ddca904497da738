#include "tests/integration/chaos/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_format.h"

namespace plimsoll::chaos {
namespace {

constexpr double kLong = 2000;

std::vector<Fault> Schedule(std::uint64_t seed, double seconds = kLong, bool network = true) {
  return MakeSchedule({seed, seconds, network});
}

const std::vector<std::string> kFirstOfSeedSeven = {
    "1.000 pause replica 2 for 4.84 s",
    "2.662 kill replica 3 for 0.15 s",
    "3.733 kill controller for 0.20 s",
    "4.517 pause replica 6 for 0.67 s",
    "6.598 disturb controller for 5.83 s: delay up to 727 ms, 8 % lost, 7 % twice",
    "7.996 cut to replica 2 for 6.16 s",
};

bool OfController(const Fault& fault) {
  return fault.targets.empty() && fault.kind != FaultKind::kQuota;
}

bool OfNetwork(const Fault& fault) { return NeedsNetwork(fault.kind); }

TEST(ScheduleTest, IsTheSameForTheSameSeed) { EXPECT_EQ(Schedule(7), Schedule(7)); }

TEST(ScheduleTest, IsAnotherForAnotherSeed) { EXPECT_NE(Schedule(7), Schedule(8)); }

TEST(ScheduleTest, IsInTheOrderOfTime) {
  const std::vector<Fault> schedule = Schedule(1);
  EXPECT_TRUE(std::is_sorted(schedule.begin(), schedule.end(),
                             [](const Fault& a, const Fault& b) { return a.at < b.at; }));
}

TEST(ScheduleTest, MendsEverythingInTime) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const Fault& fault : Schedule(seed, 45)) EXPECT_LE(fault.end(), 45) << Describe(fault);
  }
}

TEST(ScheduleTest, HasEveryKindOfFault) {
  std::set<FaultKind> kinds;
  for (const Fault& fault : Schedule(3)) kinds.insert(fault.kind);
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(FaultKind::kQuota) + 1)
      << "and none that needs several controllers";
}

// A seed that somebody has noted down means the same for ever.
TEST(ScheduleTest, KeepsItsSchedules) {
  std::vector<std::string> first;
  for (const Fault& fault : Schedule(7, 30)) {
    first.push_back(absl::StrFormat("%.3f %s", fault.at, Describe(fault)));
  }
  first.resize(6);
  EXPECT_EQ(first, kFirstOfSeedSeven);
}

TEST(ScheduleTest, HasNoNetworkFaultWithoutANetwork) {
  const std::vector<Fault> schedule = Schedule(3, kLong, false);
  EXPECT_FALSE(schedule.empty());
  EXPECT_TRUE(std::none_of(schedule.begin(), schedule.end(), OfNetwork));
}

TEST(ScheduleTest, DoesOneThingAtATimeToAProcessAndToItsNetwork) {
  std::map<std::pair<int, bool>, double> busy;  // by target (-1: the controller) and network
  for (const Fault& fault : Schedule(5)) {
    std::vector<int> targets = fault.targets;
    if (OfController(fault)) targets = {-1};
    for (const int target : targets) {
      double& until = busy[{target, OfNetwork(fault)}];
      EXPECT_LE(until, fault.at) << Describe(fault);
      until = fault.end();
    }
  }
}

TEST(ScheduleTest, PausesShorterAndLongerThanLeaseAndDeadline) {
  double shortest = kLong;
  double longest = 0;
  for (const Fault& fault : Schedule(2)) {
    if (fault.kind != FaultKind::kPauseReplica) continue;
    shortest = std::min(shortest, fault.seconds);
    longest = std::max(longest, fault.seconds);
  }
  EXPECT_LT(shortest, 1);
  EXPECT_GT(longest, 10);
}

TEST(ScheduleTest, SwapsTwoDifferentReplicasInASurge) {
  for (const Fault& fault : Schedule(4)) {
    if (fault.kind != FaultKind::kSurge) continue;
    ASSERT_EQ(fault.targets.size(), 2U);
    EXPECT_NE(fault.targets[0], fault.targets[1]);
  }
}

TEST(ScheduleTest, ChangesTheQuotaInTurn) {
  std::vector<int> quotas;
  for (const Fault& fault : Schedule(4)) {
    if (fault.kind == FaultKind::kQuota) quotas.push_back(fault.quota);
  }
  quotas.resize(5);
  EXPECT_EQ(quotas, (std::vector<int>{30, 50, 60, 50, 30}));
}

TEST(ScheduleTest, TellsWhatAFaultDoesToLeaders) {
  EXPECT_EQ(Describe({FaultKind::kPauseEtcd, 1, 2, {kLeader}}), "pause etcd that leads for 2.00 s");
  Fault fault{FaultKind::kCutControllerFromEtcd, 1, 2, {1}};
  fault.way = Way::kTo;
  EXPECT_EQ(Describe(fault), "cut controller from etcd 1, what it is sent, for 2.00 s");
}

TEST(ScheduleTest, TellsWhatAFaultDoes) {
  Fault fault;
  fault.kind = FaultKind::kSurge;
  fault.seconds = 2.5;
  fault.targets = {3, 5};
  EXPECT_EQ(Describe(fault), "surge 3 and 5 for 2.50 s");
  fault = Fault{FaultKind::kDisturbController, 1, 2, {}, 0, 0.25, 0.1, 0.05};
  EXPECT_EQ(Describe(fault),
            "disturb controller for 2.00 s: delay up to 250 ms, 10 % lost, 5 % twice");
  EXPECT_EQ(Describe({FaultKind::kQuota, 1, 0, {}, 30}), "quota 30");
}

}  // namespace
}  // namespace plimsoll::chaos
