// What the demo's judgement rests on: the provider's model, the schedule, and the reports.

#include <gtest/gtest.h>

#include "agent/examples/demo/acts.h"
#include "agent/examples/demo/options.h"
#include "agent/examples/demo/provider.h"
#include "agent/examples/demo/report.h"
#include "agent/examples/demo/setup.h"

namespace plimsoll::demo {
namespace {

double SecondsAt(int in_flight) {
  return absl::ToDoubleSeconds(FateOf(ProviderModel{}, in_flight, 0.5, 0.999).service);
}

TEST(ProviderModelTest, ServesAtFullSpeedUpToItsCapacity) {
  EXPECT_DOUBLE_EQ(SecondsAt(1), 0.09);
  EXPECT_DOUBLE_EQ(SecondsAt(50), 0.09);
  EXPECT_GT(SecondsAt(51), 0.09);
}

TEST(ProviderModelTest, LosesThroughputAboveItsCapacity) {
  for (int n = 50; n < 150; n += 10) EXPECT_GT(n / SecondsAt(n), (n + 10) / SecondsAt(n + 10)) << n;
}

TEST(ProviderModelTest, FailsAGrowingShareOfCallsAboveOneHundred) {
  const ProviderModel model;
  EXPECT_FALSE(FateOf(model, 100, 0.5, 0).fails);
  EXPECT_TRUE(FateOf(model, 140, 0, 0.49).fails);
  EXPECT_FALSE(FateOf(model, 140, 0, 0.51).fails);
}

TEST(ProviderModelTest, NeverWorksOnACallLongerThanItsDeadline) {
  const Fate fate = FateOf(ProviderModel{}, 1000, 1, 1);
  EXPECT_EQ(fate.service, ProviderModel{}.deadline);
  EXPECT_TRUE(fate.fails);
  EXPECT_LT(ProviderModel{}.deadline, kCallDeadline);
}

TEST(ReportTest, SurvivesThePipe) {
  Report report;
  report.sent = 7;
  report.succeeded = 5;
  report.errors = 1;
  report.rejected = 3;
  report.limit = 12;
  report.in_flight = 1;
  report.granted_ns = 1234567890123;
  report.written_ns = 1234567890200;
  report.stepped_down = 4;
  report.latency.Record(absl::Milliseconds(90));
  report.latency.Record(absl::Milliseconds(90));
  report.RecordRefusal(absl::Nanoseconds(120));
  const absl::StatusOr<Report> read = ReportFromLine(ToLine(report));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, report);
  EXPECT_NEAR(absl::ToDoubleNanoseconds(read->RefusalQuantile(0.5)), 120, 4);
}

TEST(ReportTest, IsRefusedIfItIsNone) {
  for (const char* line : {"hello", "sent=x", "sent=1=2", "latency=9999999:1", "latency=1"}) {
    EXPECT_FALSE(ReportFromLine(line).ok()) << line;
  }
}

TEST(ScheduleTest, FitsTheShortestLaneAndLeavesTimeForEveryHold) {
  for (const double seconds : {8.0, 8.4, 14.0, 28.0, 600.0}) {
    const Schedule schedule = MakeSchedule(seconds);
    SCOPED_TRACE(seconds);
    EXPECT_GT(schedule.restart_replica - schedule.kill_replica,
              absl::ToDoubleSeconds(kLease + kCallDeadline) * 1.1);
    EXPECT_GT(schedule.kill_controller, schedule.restart_replica);
    EXPECT_GT(schedule.restart_controller, schedule.kill_controller);
    EXPECT_GT(schedule.release_replica, schedule.restart_controller);
    EXPECT_LT(schedule.release_replica, seconds);
  }
}

TEST(DemoOptionsTest, AreReadInAnyOrder) {
  const absl::StatusOr<DemoOptions> options =
      ParseOptions({"--json", "--seed", "7", "--seconds", "20", "--lane", "plimsoll"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_TRUE(options->json);
  EXPECT_EQ(options->seed, 7U);
  EXPECT_EQ(options->seconds, 20);
  EXPECT_FALSE(options->unlimited_lane);
  EXPECT_TRUE(options->plimsoll_lane);
}

}  // namespace
}  // namespace plimsoll::demo
