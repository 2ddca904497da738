#include "plimsoll/controller/event_log.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

LogEvent Event(EventType type, std::string dependency = "", std::string instance = "") {
  LogEvent event;
  event.type = type;
  event.dependency = DependencyId(std::move(dependency));
  event.instance = InstanceId(std::move(instance));
  return event;
}

LogEvent LimitChange(Reason reason) {
  LogEvent event = Event(EventType::kLimitChanged, "payments", "checkout-0");
  event.reason = reason;
  return event;
}

std::vector<std::string> Ids(const std::vector<LogEvent>& events) {
  std::vector<std::string> ids;
  ids.reserve(events.size());
  for (const LogEvent& event : events) ids.push_back(event.id);
  return ids;
}

EventLog LogWithEvents(int count, int keep) {
  EventLog log(Epoch(7), keep);
  for (int i = 0; i < count; ++i) log.Append(Event(EventType::kInstanceJoined));
  return log;
}

TEST(EventTypeTest, EveryTypeHasItsOwnNameAndIsFoundByIt) {
  for (std::size_t i = 0; i < kEventTypes; ++i) {
    const auto type = static_cast<EventType>(i);
    EXPECT_EQ(EventTypeFromString(ToString(type)), type) << ToString(type);
  }
  EXPECT_EQ(ToString(EventType::kLimitChanged), "LIMIT_CHANGED");
  EXPECT_EQ(ToString(EventType::kStarted), "STARTED");
}

TEST(EventTypeTest, LettersMayBeOfEitherCase) {
  EXPECT_EQ(EventTypeFromString("instance_Left"), EventType::kInstanceLeft);
}

TEST(EventTypeTest, OtherWordsAreNotFound) {
  EXPECT_EQ(EventTypeFromString("LIMIT"), std::nullopt);
  EXPECT_EQ(EventTypeFromString(""), std::nullopt);
}

TEST(EventLogTest, IdsNameTheEpochAndCountFromOne) {
  EventLog log(Epoch(7), 10);
  EXPECT_EQ(log.Append(Event(EventType::kStarted)), "7-1");
  EXPECT_EQ(log.Append(Event(EventType::kInstanceJoined)), "7-2");
}

TEST(EventLogTest, FindsNewestFirst) {
  EXPECT_THAT(Ids(LogWithEvents(3, 10).Find({}, 10)), ElementsAre("7-3", "7-2", "7-1"));
}

TEST(EventLogTest, FindsNoMoreThanAskedFor) {
  const EventLog log = LogWithEvents(3, 10);
  EXPECT_THAT(Ids(log.Find({}, 2)), ElementsAre("7-3", "7-2"));
  EXPECT_THAT(log.Find({}, 0), IsEmpty());
  EXPECT_THAT(log.Find({}, -1), IsEmpty());
}

TEST(EventLogTest, PagesContinueBeforeAnId) {
  const EventLog log = LogWithEvents(5, 10);
  EXPECT_THAT(Ids(log.Find({.before = "7-4"}, 2)), ElementsAre("7-3", "7-2"));
  EXPECT_THAT(Ids(log.Find({.before = "7-2"}, 2)), ElementsAre("7-1"));
  EXPECT_THAT(log.Find({.before = "7-1"}, 2), IsEmpty());
}

TEST(EventLogTest, PagesEndWhereEventsWereForgotten) {
  const EventLog log = LogWithEvents(5, 2);
  EXPECT_THAT(log.Find({.before = "7-3"}, 10), IsEmpty());
  EXPECT_THAT(Ids(log.Find({.before = "7-5"}, 10)), ElementsAre("7-4"));
}

TEST(EventLogTest, IdsOfOtherReignsAreOlderOrNewerThanEverything) {
  const EventLog log = LogWithEvents(2, 10);
  EXPECT_THAT(log.Find({.before = "6-99"}, 10), IsEmpty());
  EXPECT_THAT(Ids(log.Find({.before = "8-1"}, 10)), ElementsAre("7-2", "7-1"));
  EXPECT_THAT(Ids(log.Find({.before = "7-99"}, 10)), ElementsAre("7-2", "7-1"));
}

TEST(EventLogTest, MalformedIdsFindNothing) {
  const EventLog log = LogWithEvents(2, 10);
  for (const char* id : {"7", "-", "7-", "-2", "7--1", "7-2x", "x-2", "7-99999999999999999999"}) {
    EXPECT_THAT(log.Find({.before = id}, 10), IsEmpty()) << id;
    EXPECT_EQ(log.Get(id), std::nullopt) << id;
  }
}

TEST(EventLogTest, GetsOneEventByItsId) {
  EventLog log(Epoch(7), 10);
  log.Append(Event(EventType::kStarted));
  const std::string id = log.Append(Event(EventType::kInstanceLeft, "", "checkout-3"));
  ASSERT_NE(log.Get(id), std::nullopt);
  EXPECT_EQ(log.Get(id)->id, id);
  EXPECT_EQ(log.Get(id)->instance, InstanceId("checkout-3"));
}

TEST(EventLogTest, DoesNotGetWhatIsUnknownOrForgotten) {
  const EventLog log = LogWithEvents(5, 2);
  EXPECT_EQ(log.Get("7-3"), std::nullopt);
  EXPECT_NE(log.Get("7-4"), std::nullopt);
  EXPECT_EQ(log.Get("7-6"), std::nullopt);
  EXPECT_EQ(log.Get("6-4"), std::nullopt);
  EXPECT_EQ(log.Get(""), std::nullopt);
}

TEST(EventLogTest, FiltersByEveryField) {
  EventLog log(Epoch(1), 10);
  log.Append(Event(EventType::kInstanceJoined, "payments", "checkout-0"));  // 1-1
  log.Append(Event(EventType::kInstanceJoined, "orders", "checkout-1"));    // 1-2
  log.Append(LimitChange(Reason::kErrors));                                 // 1-3
  log.Append(LimitChange(Reason::kQuotaRebalanced));                        // 1-4
  EXPECT_THAT(Ids(log.Find({.dependency = DependencyId("payments")}, 10)),
              ElementsAre("1-4", "1-3", "1-1"));
  EXPECT_THAT(Ids(log.Find({.instance = InstanceId("checkout-1")}, 10)), ElementsAre("1-2"));
  EXPECT_THAT(Ids(log.Find({.type = EventType::kInstanceJoined}, 10)), ElementsAre("1-2", "1-1"));
  EXPECT_THAT(Ids(log.Find({.reason = Reason::kErrors}, 10)), ElementsAre("1-3"));
  EXPECT_THAT(Ids(log.Find({.dependency = DependencyId("payments"),
                            .type = EventType::kLimitChanged,
                            .before = "1-4"},
                           10)),
              ElementsAre("1-3"));
}

TEST(EventLogTest, OnlyChangesOfALimitHaveAReason) {
  EventLog log(Epoch(1), 10);
  log.Append(Event(EventType::kStarted));
  log.Append(LimitChange(Reason::kInitial));
  EXPECT_THAT(Ids(log.Find({.reason = Reason::kInitial}, 10)), ElementsAre("1-2"));
}

TEST(EventLogTest, TotalsCountForgottenEventsToo) {
  const EventLog log = LogWithEvents(5, 2);
  EXPECT_EQ(log.total(EventType::kInstanceJoined), 5);
  EXPECT_EQ(log.total(EventType::kInstanceLeft), 0);
}

TEST(EventLogTest, ALogThatKeepsNothingStillCounts) {
  EventLog log(Epoch(1), 0);
  EXPECT_EQ(log.Append(Event(EventType::kStarted)), "1-1");
  EXPECT_THAT(log.Find({}, 10), IsEmpty());
  EXPECT_EQ(log.Get("1-1"), std::nullopt);
  EXPECT_EQ(log.total(EventType::kStarted), 1);
}

TEST(EventLogTest, WhoFollowsTheLogGetsWhatIsNewer) {
  const EventLog log = LogWithEvents(5, 3);
  EXPECT_THAT(Ids(log.Find({.after = "7-4"}, 10)), ElementsAre("7-5"));
  EXPECT_THAT(Ids(log.Find({.after = "7-1"}, 10)), ElementsAre("7-5", "7-4", "7-3"));
  EXPECT_THAT(Ids(log.Find({.after = "6-99"}, 10)), ElementsAre("7-5", "7-4", "7-3"))
      << "of the reign before";
  EXPECT_THAT(Ids(log.Find({.after = "7-5"}, 10)), IsEmpty());
}

TEST(EventLogTest, ASpanOfTimeHasItsStartAndNotItsEnd) {
  EventLog log(Epoch(7), 10);
  for (int i = 0; i < 5; ++i) {
    LogEvent event = Event(EventType::kInstanceJoined);
    event.at = Instant{i};
    log.Append(event);
  }
  EXPECT_THAT(Ids(log.Find({.since = Instant{1}, .until = Instant{3}}, 10)),
              ElementsAre("7-3", "7-2"));
  EXPECT_THAT(Ids(log.Find({.since = Instant{5}}, 10)), IsEmpty());
}

}  // namespace
}  // namespace plimsoll
