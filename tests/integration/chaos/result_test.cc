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
