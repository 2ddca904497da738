#include "tests/integration/chaos/judge.h"

#include <gtest/gtest.h>

namespace plimsoll::chaos {
namespace {

// All members undisturbed, each with so many successes and such a limit.
Sight SightAt(double at, std::int64_t succeeded, int limit) {
  Sight sight;
  sight.at = at;
  sight.in_flight = sight.in_flight_max = 40;
  sight.allowed = 50;
  for (int i = 0; i < kMembers; ++i) sight.places.push_back({true, succeeded, limit});
  return sight;
}

TEST(JudgeTest, RemembersTheMostCallsInFlightAndWhatWasAllowedThen) {
  Judge judge;
  Sight sight = SightAt(1, 1, 6);
  sight.in_flight_max = 49;
  judge.See(sight);
  sight.in_flight_max = 29;
  sight.allowed = 30;
  judge.See(sight);
  EXPECT_EQ(judge.in_flight_max(), 49);
  EXPECT_EQ(judge.allowed_at_max(), 50);
  EXPECT_FALSE(judge.breached_at());
  EXPECT_TRUE(judge.Breach().empty());
}

TEST(JudgeTest, ShowsWhatWasSeenAroundABreach) {
  Judge judge;
  for (int i = 0; i <= 100; ++i) {
    Sight sight = SightAt(i * 0.5, i, 6);
    if (i >= 60) sight.excess_max = 2;
    if (i == 60) sight.in_flight_max = 52;
    judge.See(sight);
  }
  EXPECT_EQ(judge.breached_at(), 30);
  const std::vector<std::string> lines = judge.Breach();
  ASSERT_EQ(lines.size(), 13U) << "from 25 s to 31 s";
  EXPECT_EQ(lines[10],
            "   30.000  in flight 40, at most 52 of 50; limits  6  6  6  6  6  6  6  6 = 48");
}

TEST(JudgeTest, MeasuresHowLongAnUndisturbedMemberHadNoSuccess) {
  Judge judge;
  judge.See(SightAt(1, 1, 6));
  for (int at = 2; at <= 6; ++at) {
    Sight sight = SightAt(at, at, 6);
    sight.places[3].succeeded = 1;
    judge.See(sight);
  }
  EXPECT_DOUBLE_EQ(judge.longest_drought(), 5);
  EXPECT_EQ(judge.drought_place(), 3);
  EXPECT_EQ(judge.drought_end(), 6);
}

TEST(JudgeTest, BlamesNobodyForATimeInWhichSomethingWasWrong) {
  Judge judge;
  for (int at = 1; at <= 6; ++at) {
    Sight sight = SightAt(at, at, 6);
    sight.places[3].undisturbed = at > 5;
    sight.places[3].succeeded = 0;
    judge.See(sight);
  }
  EXPECT_DOUBLE_EQ(judge.longest_drought(), 1);
}

TEST(JudgeTest, SaysWhenAllServeAgainAndTheLimitsAreWhole) {
  Judge judge;
  judge.See(SightAt(9, 5, 1));
  judge.Healed(10, 50);
  judge.See(SightAt(11, 5, 1));
  EXPECT_FALSE(judge.all_serve_after());
  judge.See(SightAt(12, 6, 1));
  EXPECT_FALSE(judge.whole_after());
  judge.See(SightAt(13, 7, 6));
  EXPECT_EQ(judge.all_serve_after(), 2);
  EXPECT_EQ(judge.whole_after(), 3);
  EXPECT_EQ(judge.last_limits(), 48);
}

TEST(JudgeTest, DoesNotSayThatAllServeWhileOneDoesNot) {
  Judge judge;
  judge.See(SightAt(9, 5, 1));
  judge.Healed(10, 50);
  Sight sight = SightAt(12, 6, 6);
  sight.places[7].succeeded = 5;
  judge.See(sight);
  EXPECT_FALSE(judge.all_serve_after());
}

}  // namespace
}  // namespace plimsoll::chaos
