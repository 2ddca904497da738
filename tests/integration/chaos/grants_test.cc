#include "tests/integration/chaos/grants.h"

#include <gtest/gtest.h>

namespace plimsoll::chaos {
namespace {

constexpr double kLease = 6;
constexpr double kStep = 0.1;
constexpr char kPaused[] = "it was paused";

// One replica, looked at ten times a second, that is granted a lease each time unless told.
class GrantWatchTest : public ::testing::Test {
 protected:
  void Pass(double seconds, bool granted, const char* excuse = nullptr, double stall = 0) {
    for (const double end = now_ + seconds - kStep / 2; now_ < end;) {
      now_ += kStep;
      if (granted) report_.granted_at = now_ - 0.05;
      report_.written_at = now_;
      watch_.See(now_, {{0, excuse, starts_, {report_}}}, stall);
      stall = 0;
    }
  }
  void StepDown() { ++report_.stepped_down; }

  double now_ = 0;
  int starts_ = 1;
  GrantReport report_;
  GrantWatch watch_{kLease};
};

TEST_F(GrantWatchTest, SeesNothingWrongWithGrantsThatKeepComing) {
  Pass(30, true);
  EXPECT_LT(watch_.longest(), 0.3);
  EXPECT_NEAR(watch_.Quantile(0.99), kStep, 0.05);
  EXPECT_LE(watch_.excess(), 0);
  EXPECT_TRUE(watch_.step_downs().empty());
}

TEST_F(GrantWatchTest, MeasuresTheTimeFromGrantToGrant) {
  Pass(10, true);
  Pass(4, false);
  Pass(1, true);
  EXPECT_NEAR(watch_.longest(), 4.1, 0.11);
  EXPECT_NEAR(watch_.longest_end(), 14, 0.11);
  EXPECT_LE(watch_.excess(), 0);
}

// Whoever looks seldom must not take many grants for none.
TEST_F(GrantWatchTest, LooksAtEachReportThatHasComeSince) {
  Pass(10, true);
  GrantSight sight{0, nullptr, 1, {}};
  for (int i = 1; i <= 80; ++i) sight.notes.push_back({10 + i * 0.1, 10 + i * 0.1 + 0.05, 0});
  watch_.See(18, {sight}, 0);
  EXPECT_LT(watch_.longest(), 0.3);
}

TEST_F(GrantWatchTest, SeesAWindowThatIsTooLong) {
  Pass(10, true);
  Pass(7, false);
  Pass(1, true);
  EXPECT_NEAR(watch_.excess(), 1.1, 0.11);
}

TEST_F(GrantWatchTest, SeesAWindowThatIsTooLongBeforeItEnds) {
  Pass(10, true);
  Pass(7, false);
  EXPECT_GT(watch_.excess(), 0.8);
}

TEST_F(GrantWatchTest, CountsFromTheEndOfAnExcuse) {
  Pass(10, true);
  Pass(20, false, kPaused);
  Pass(5, false);
  EXPECT_LE(watch_.excess(), 0);
  EXPECT_NEAR(watch_.longest(), 5, 0.11);
  Pass(2, false);
  EXPECT_GT(watch_.excess(), 0.8);
}

// Otherwise a moment of excuse would hide what came before.
TEST_F(GrantWatchTest, AnExcuseDoesNotHideWhatWasTooLongBefore) {
  Pass(10, true);
  Pass(7, false);
  Pass(0.1, false, kPaused);
  Pass(1, true);
  EXPECT_GT(watch_.excess(), 0.8);
}

TEST_F(GrantWatchTest, AllowsForAMachineThatStoodStill) {
  Pass(10, true);
  Pass(3, false);
  Pass(4, false, nullptr, /*stall=*/2);
  Pass(1, true);
  EXPECT_NEAR(watch_.longest(), 7.1, 0.11);
  EXPECT_LE(watch_.excess(), 0);
}

TEST_F(GrantWatchTest, DoesNotAllowForAStallBeforeTheLastGrant) {
  Pass(10, true, nullptr, /*stall=*/5);
  Pass(7, false);
  EXPECT_GT(watch_.excess(), 0.8);
}

TEST_F(GrantWatchTest, ExcusesAStepDownByWhatHeldSinceTheLastGrant) {
  Pass(10, true);
  Pass(1, false, kPaused);
  Pass(3, false);
  StepDown();
  Pass(1, true);
  ASSERT_EQ(watch_.step_downs().size(), 1U);
  EXPECT_EQ(watch_.step_downs()[0].because, kPaused);
}

TEST_F(GrantWatchTest, DoesNotExcuseAStepDownByWhatHeldBefore) {
  Pass(5, true, kPaused);
  Pass(5, true);
  Pass(5.5, false);
  StepDown();
  Pass(1, true);
  ASSERT_EQ(watch_.step_downs().size(), 1U);
  EXPECT_EQ(watch_.step_downs()[0].because, "");
  EXPECT_EQ(Describe(watch_.step_downs()[0]),
            "the limit of replica 0 stepped down at 15.6 s, 5.6 s after its last grant");
}

// What was asked for before a pause, and read after it, is a lease that has nearly ended.
TEST_F(GrantWatchTest, ExcusesAStepDownByAPauseWithinTheLeaseThatEnds) {
  Pass(10, true);
  Pass(4.4, false, kPaused);
  Pass(0.1, true);
  Pass(1.4, false);
  StepDown();
  Pass(0.1, false);
  ASSERT_EQ(watch_.step_downs().size(), 1u);
  EXPECT_EQ(watch_.step_downs()[0].because, kPaused);
}

TEST_F(GrantWatchTest, DoesNotExcuseOneSoonAfterAGrantWithoutAPause) {
  Pass(20, true);
  Pass(1.4, false);
  StepDown();
  Pass(0.1, false);
  ASSERT_EQ(watch_.step_downs().size(), 1u);
  EXPECT_EQ(watch_.step_downs()[0].because, "");
}

TEST_F(GrantWatchTest, BeginsAnewWithANewProcess) {
  Pass(10, true);
  StepDown();
  Pass(1, true);
  const std::size_t before = watch_.step_downs().size();
  Pass(20, false, "it did not run");
  ++starts_;
  report_.stepped_down = 0;
  report_.granted_at = -50;  // never
  Pass(5, false);
  EXPECT_LE(watch_.excess(), 0);
  EXPECT_EQ(watch_.step_downs().size(), before);
  Pass(2, false);
  EXPECT_GT(watch_.excess(), 0.8);
}

}  // namespace
}  // namespace plimsoll::chaos
