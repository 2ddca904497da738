#include "tests/integration/chaos/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::chaos {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result GoodResult() {
  Result result;
  result.network = true;
  result.timing = TimingOf(1);
  result.in_flight_max = 50;
  result.allowed_at_max = 50;
  result.all_serve_after = 0.5;
  result.whole_after = 2;
  return result;
}

TEST(ComplaintsTest, AreNoneAboutAGoodRun) { EXPECT_THAT(Complaints(GoodResult()), IsEmpty()); }

TEST(ComplaintsTest, NameABreach) {
  Result result = GoodResult();
  result.violations = 3;
  result.excess_max = 2;
  EXPECT_THAT(Complaints(result), ElementsAre("the quota was exceeded by up to 2, by 3 calls"));
}

TEST(ComplaintsTest, TellABreachOfThePromiseFromOneOfItsAssumption) {
  Result result = GoodResult();
  result.late_calls = 2;
  EXPECT_THAT(Complaints(result), IsEmpty()) << "alone it is only a figure";
  result.violations = 1;
  EXPECT_THAT(Complaints(result), Contains(HasSubstr("2 calls outlived their deadline")));
}

TEST(ComplaintsTest, NameAReplicaThatIsStuck) {
  Result result = GoodResult();
  result.all_serve_after.reset();
  EXPECT_THAT(Complaints(result), ElementsAre(HasSubstr("all replicas serve again never")));
}

TEST(ComplaintsTest, NameLimitsThatStaySmall) {
  Result result = GoodResult();
  result.whole_after = 60;
  EXPECT_THAT(Complaints(result), ElementsAre(HasSubstr("after 60.0 s")));
}

TEST(ComplaintsTest, NameWhatEndedARunEarlyAndNothingThatFollowsFromIt) {
  Result result;
  result.trouble = "replica 3 has ended by itself";
  EXPECT_THAT(Complaints(result), ElementsAre("replica 3 has ended by itself"));
}

Result GoodResultOfThree() {
  Result result = GoodResult();
  result.controllers = result.members = 3;
  result.timing = TimingOf(3);
  result.plane = {5, 1, 1.5};
  result.grants.longest = 4.5;
  result.grants.longest_place = 2;
  result.grants.longest_end = 33;
  result.grants.p99 = 0.4;
  result.grants.step_downs = {{"it was paused", 7}};
  return result;
}

TEST(ComplaintsTest, AreNoneAboutAGoodRunOfSeveralControllers) {
  EXPECT_THAT(Complaints(GoodResultOfThree()), IsEmpty());
}

TEST(ComplaintsTest, NameATimeWithoutGrantsThatNothingExcuses) {
  Result result = GoodResultOfThree();
  result.grants.excess = 0.5;
  EXPECT_THAT(Complaints(result), ElementsAre(HasSubstr("longer than its lease of 6.0 s")));
}

TEST(ComplaintsTest, NameStepsDownThatNothingExcuses) {
  Result result = GoodResultOfThree();
  result.grants.unexcused = {"the limit of replica 3 stepped down"};
  EXPECT_THAT(Complaints(result), ElementsAre("the limit of replica 3 stepped down"));
}

// There, an outage of the controller is an outage.
TEST(ComplaintsTest, AreNoneAboutGrantsOfASingleController) {
  Result result = GoodResult();
  result.grants.excess = 9;
  result.grants.unexcused = {"the limit of replica 3 stepped down"};
  EXPECT_THAT(Complaints(result), IsEmpty());
}

TEST(ResultTest, TellsOfFailoversAndOfTimesWithoutGrants) {
  const std::string text = ToText(GoodResultOfThree());
  EXPECT_THAT(text, HasSubstr("failovers            4\n"));
  EXPECT_THAT(text, HasSubstr("etcd silent          1 times for more than 1 s, 1.5 s at most\n"));
  EXPECT_THAT(
      text,
      HasSubstr("without a grant      4.5 s at most, of replica 2, until 33.0 s; p99 0.40 s\n"));
  EXPECT_THAT(text, HasSubstr("limits stepped down  7 times: it was paused\n"));
  const std::string json = ToJson(GoodResultOfThree());
  EXPECT_THAT(json, HasSubstr(R"("failovers":4)"));
  EXPECT_THAT(json, HasSubstr(R"("step_downs":{"it was paused":7})"));
}

TEST(ResultTest, SaysLoudlyThatThereWasNoNetwork) {
  Result result = GoodResult();
  result.network = false;
  result.no_network_because = "not permitted";
  EXPECT_THAT(ToText(result), HasSubstr("network faults: off: not permitted\n"));
  EXPECT_THAT(ToJson(result), HasSubstr("\"network_faults\":false"));
}

TEST(ResultTest, ShowsTheBreachInItsText) {
  Result result = GoodResult();
  result.breach = {"51 of 50"};
  EXPECT_THAT(ToText(result), HasSubstr("51 of 50\n"));
}

}  // namespace
}  // namespace plimsoll::chaos
