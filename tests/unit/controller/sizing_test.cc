#include "plimsoll/controller/sizing.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A fleet that stays as it is; tests change what they are about.
struct Day {
  DependencyRow row;
  LimitRow limit;
  int instances = 4;

  Day() {
    row.policy.name = DependencyId("payments");
    row.policy.quota = 40;
    row.policy.algorithm.kind = AlgorithmKind::kFleetKnee;
    row.policy.algorithm.floor = 2;
    row.policy.algorithm.ceiling = 40;
    row.admitted_per_second = 100;
    row.latency_mean = absl::Milliseconds(100);
    row.latency_p99 = absl::Milliseconds(250);
    row.algorithm_limit = 100;
    limit.dependency = row.policy.name;
    limit.enforced = 10;
    limit.in_flight = 3;
    limit.in_flight_max = 5;
  }

  Snapshot At(int step) const {
    Snapshot snapshot;
    snapshot.at = Instant() + absl::Seconds(5) * step;
    snapshot.dependencies = {row};
    snapshot.dependencies[0].instances = instances;
    snapshot.limits.assign(static_cast<std::size_t>(instances), limit);
    return snapshot;
  }

  void Pass(SizingAdvisor& advisor, int steps, int first = 0) const {
    for (int i = first; i < first + steps; ++i) advisor.Observe(At(i));
  }

  SizingAdvice Advice() const {
    SizingAdvisor advisor;
    Pass(advisor, 20);
    return advisor.Advise().at(0);
  }
};

std::vector<SizingFinding> Findings(const SizingAdvice& advice) {
  std::vector<SizingFinding> findings;
  for (const SizingRemark& remark : advice.remarks) findings.push_back(remark.finding);
  return findings;
}

TEST(SizingTest, EveryFindingHasItsOwnName) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < kSizingFindings; ++i) {
    names.insert(std::string(ToString(static_cast<SizingFinding>(i))));
  }
  EXPECT_THAT(names, SizeIs(kSizingFindings));
  EXPECT_EQ(ToString(SizingFinding::kDependencyIsFull), "DEPENDENCY_IS_FULL");
}

TEST(SizingTest, CallsInFlightAreRateTimesLatency) {
  const SizingAdvice advice = Day().Advice();
  EXPECT_EQ(advice.in_flight_by_mean, 10);
  EXPECT_EQ(advice.in_flight_by_p99, 25);
}

TEST(SizingTest, CriticalWorkGetsTwiceTheMeanButAtLeastTheSlowMoment) {
  Day day;
  EXPECT_EQ(day.Advice().critical, 25);
  day.row.latency_p99 = absl::Milliseconds(110);
  EXPECT_EQ(day.Advice().critical, 20);
  EXPECT_EQ(day.Advice().quota, 20);
}

TEST(SizingTest, OptionalWorkGetsTheMean) { EXPECT_EQ(Day().Advice().optional, 10); }

TEST(SizingTest, FloorIsThePartOfAnAverageMomentAndCeilingOfAHalvedFleet) {
  const SizingAdvice advice = Day().Advice();
  EXPECT_EQ(advice.floor, 3);     // 100/s * 100 ms / 4 instances
  EXPECT_EQ(advice.ceiling, 13);  // 25 / 2 instances
}

TEST(SizingTest, ThePeakCountsForRoomAndTheMeanForTheFloor) {
  Day day;
  SizingAdvisor advisor;
  day.Pass(advisor, 19);
  day.row.admitted_per_second = 300;
  day.Pass(advisor, 1, 19);
  const SizingAdvice advice = advisor.Advise().at(0);
  EXPECT_EQ(advice.in_flight_by_mean, 30);
  EXPECT_DOUBLE_EQ(advice.arrivals_mean, 110);
  EXPECT_EQ(advice.floor, 3);
}

TEST(SizingTest, RefusedCallsWereAskedForToo) {
  Day day;
  day.row.admitted_per_second = 60;
  day.row.rejected_per_second = 40;
  const SizingAdvice advice = day.Advice();
  EXPECT_EQ(advice.in_flight_by_mean, 10);
  EXPECT_DOUBLE_EQ(advice.refused_share, 0.4);
  EXPECT_THAT(Findings(advice), ElementsAre(SizingFinding::kMeasuredUnderLoad));
}

TEST(SizingTest, LatencyIsWeightedByCallsAndItsTailIsTheMedianOfSteps) {
  Day day;
  SizingAdvisor advisor;
  day.Pass(advisor, 15);
  day.row.admitted_per_second = 300;
  day.row.latency_mean = absl::Milliseconds(500);
  day.row.latency_p99 = absl::Seconds(30);
  day.Pass(advisor, 5, 15);
  const SizingAdvice advice = advisor.Advise().at(0);
  EXPECT_EQ(absl::ToInt64Milliseconds(advice.latency_mean), 300);
  EXPECT_EQ(advice.latency_p99, absl::Milliseconds(250));
}

TEST(SizingTest, AHealthyDependencyGetsNumbersAndNoRemark) {
  const SizingAdvice advice = Day().Advice();
  EXPECT_THAT(advice.remarks, IsEmpty());
  EXPECT_THAT(advice.reasons, SizeIs(3));
  EXPECT_THAT(advice.reasons[0],
              HasSubstr("100 calls/s come, and a call takes 100 ms on average and 250 ms at the "
                        "99th percentile: 10 calls are in flight, 25 when all are slow"));
}

TEST(SizingTest, TellsWhatIsSetBesideWhatIsAdvised) {
  const SizingAdvice advice = Day().Advice();
  EXPECT_EQ(advice.configured_quota, 40);
  EXPECT_EQ(advice.configured_floor, 2);
  EXPECT_EQ(advice.configured_ceiling, 40);
}

TEST(SizingTest, TooLittleTrafficGivesNoNumbers) {
  Day day;
  SizingAdvisor advisor;
  day.Pass(advisor, 11);
  EXPECT_THAT(Findings(advisor.Advise().at(0)), ElementsAre(SizingFinding::kTooLittleTraffic));
  EXPECT_EQ(advisor.Advise().at(0).quota, std::nullopt);
  day.Pass(advisor, 1, 11);
  EXPECT_THAT(advisor.Advise().at(0).remarks, IsEmpty());

  day.row.admitted_per_second = 0.1;  // twenty steps hold ten calls
  EXPECT_EQ(day.Advice().quota, std::nullopt);
}

TEST(SizingTest, StepsWithoutTrafficDoNotCount) {
  Day day;
  SizingAdvisor advisor;
  day.Pass(advisor, 20);
  day.row.admitted_per_second = 0;
  day.Pass(advisor, 100, 20);
  EXPECT_EQ(advisor.Advise().at(0).steps, 20);
  EXPECT_EQ(advisor.Advise().at(0).in_flight_by_mean, 10);
}

TEST(SizingTest, OldStepsAreForgotten) {
  Day day;
  SizingAdvisor advisor(30);
  day.row.admitted_per_second = 1000;
  day.Pass(advisor, 10);
  day.row.admitted_per_second = 100;
  day.Pass(advisor, 29, 10);
  EXPECT_EQ(advisor.Advise().at(0).in_flight_by_mean, 100);
  day.Pass(advisor, 1, 39);
  EXPECT_EQ(advisor.Advise().at(0).in_flight_by_mean, 10);
}

TEST(SizingTest, DependenciesThatAreGoneAreForgotten) {
  SizingAdvisor advisor;
  Day().Pass(advisor, 20);
  advisor.Observe(Snapshot());
  EXPECT_THAT(advisor.Advise(), IsEmpty());
  Day().Pass(advisor, 1);
  EXPECT_EQ(advisor.Advise().at(0).steps, 1);
}

TEST(SizingTest, LimitsThatNeverPass30PercentArePointedOut) {
  Day day;
  day.limit.in_flight = 1;
  day.limit.in_flight_max = 3;
  EXPECT_THAT(day.Advice().remarks, IsEmpty());
  day.limit.enforced = 11;
  EXPECT_THAT(Findings(day.Advice()), ElementsAre(SizingFinding::kNeverUsed));
}

TEST(SizingTest, LimitsThatSitAbove90PercentArePointedOut) {
  Day day;
  day.limit.in_flight = 9;
  EXPECT_THAT(day.Advice().remarks, IsEmpty());
  day.limit.in_flight = 10;
  EXPECT_THAT(Findings(day.Advice()), ElementsAre(SizingFinding::kAlwaysFull));
}

TEST(SizingTest, FencedSessionsDoNotCountAsUse) {
  Day day;
  day.limit.fenced = true;
  EXPECT_DOUBLE_EQ(day.Advice().utilisation_mean, 0);
}

TEST(SizingTest, AQuotaThatDoesNotFitIsPointedOut) {
  Day day;
  day.row.policy.quota = 24;
  EXPECT_THAT(Findings(day.Advice()), ElementsAre(SizingFinding::kQuotaBelowNeed));
  day.row.policy.quota = 25;
  EXPECT_THAT(day.Advice().remarks, IsEmpty());
  day.row.policy.quota = 100;
  EXPECT_THAT(day.Advice().remarks, IsEmpty());
  day.row.policy.quota = 101;
  EXPECT_THAT(Findings(day.Advice()), ElementsAre(SizingFinding::kQuotaFarAboveNeed));
  day.row.policy.quota = std::nullopt;
  EXPECT_THAT(day.Advice().remarks, IsEmpty());
}

TEST(SizingTest, FloorsThatDoNotFitArePointedOut) {
  Day day;
  day.row.policy.algorithm.floor = 10;
  EXPECT_THAT(Findings(day.Advice()), ElementsAre(SizingFinding::kFloorAboveNeed));
  day.row.policy.algorithm.floor = 11;
  EXPECT_THAT(Findings(day.Advice()),
              ElementsAre(SizingFinding::kFloorsAboveQuota, SizingFinding::kFloorAboveNeed));
}

TEST(SizingTest, ACeilingBelowThePeakIsPointedOut) {
  Day day;
  day.row.policy.algorithm.ceiling = 3;
  EXPECT_THAT(day.Advice().remarks, IsEmpty());
  day.row.policy.algorithm.ceiling = 2;
  EXPECT_THAT(Findings(day.Advice()), ElementsAre(SizingFinding::kCeilingBelowNeed));
}

TEST(SizingTest, MoreQuotaDoesNotHelpAboveTheKneeThatTheLawFound) {
  Day day;
  day.row.algorithm_limit = 9;
  EXPECT_THAT(day.Advice().remarks, IsEmpty()) << "no law has judged yet";
  day.row.last_decision = LastDecision();
  EXPECT_THAT(Findings(day.Advice()), ElementsAre(SizingFinding::kDependencyIsFull));
  day.row.algorithm_limit = 10;
  EXPECT_THAT(day.Advice().remarks, IsEmpty());
}

}  // namespace
}  // namespace plimsoll
