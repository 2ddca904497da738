#include "api/http/src/watch_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr Instant kNow{1'000'000'000'000};

WatchFilter Everything() {
  WatchFilter filter;
  filter.topics.fill(true);
  return filter;
}

WatchFrame Limit(const std::string& dependency, const std::string& data = "{}") {
  return {WatchTopic::kLimits, {DependencyId(dependency)}, data};
}

// What the connection would write now.
std::vector<std::string> Written(BodyStream& stream) {
  std::vector<std::string> texts;
  for (const BodyStream::Piece& piece : stream.Take()) texts.push_back(*piece);
  return texts;
}

class WatchHubTest : public ::testing::Test {
 protected:
  // A stream whose first words have been written.
  std::shared_ptr<BodyStream> Open(const WatchFilter& filter = Everything()) {
    auto stream = hub_.Open(filter, "", kNow);
    EXPECT_TRUE(stream.ok()) << stream.status();
    EXPECT_THAT(Written(**stream), ElementsAre(StartsWith("retry: 2000\nid: 7-")));
    return *stream;
  }
  void PublishMany(std::size_t count) { hub_.Publish(std::vector<WatchFrame>(count, Limit("db"))); }

  WatchHub hub_{"7", 3};
};

TEST_F(WatchHubTest, AFrameHasAnIdAnEventAndItsData) {
  const auto stream = Open();
  hub_.Publish({Limit("db", R"({"enforced":38})")});
  EXPECT_THAT(Written(*stream), ElementsAre("id: 7-2\nevent: limit\ndata: {\"enforced\":38}\n\n"));
}

TEST_F(WatchHubTest, AllStreamsShareOneEncoding) {
  const auto first = Open();
  const auto second = Open();
  hub_.Publish({Limit("db")});
  EXPECT_EQ(first->Take().at(0).get(), second->Take().at(0).get());
}

TEST_F(WatchHubTest, AStreamHearsWhatItAskedFor) {
  WatchFilter filter;
  filter.topics[static_cast<std::size_t>(WatchTopic::kLimits)] = true;
  filter.topics[static_cast<std::size_t>(WatchTopic::kConfig)] = true;
  filter.dependency = DependencyId("db");
  const auto stream = Open(filter);
  hub_.Publish({Limit("db"),
                Limit("other"),
                {WatchTopic::kQuotas, {DependencyId("db")}, "{}"},
                {WatchTopic::kConfig, {}, "{}"}});
  EXPECT_THAT(Written(*stream), ElementsAre(HasSubstr("limit"), HasSubstr("config")));
}

TEST_F(WatchHubTest, WhoComesBackGetsWhatItMissed) {
  const auto stream = Open();
  hub_.Publish({Limit("db", "1"), Limit("db", "2")});
  stream->Close(false);
  hub_.Publish({Limit("db", "3")});
  const auto back = hub_.Open(Everything(), "7-2", kNow + absl::Seconds(10));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_THAT(Written(**back),
              ElementsAre("retry: 2000\n\n", HasSubstr("data: 2"), HasSubstr("data: 3")));
}

TEST_F(WatchHubTest, WhatIsNotKnownAnyMoreCannotBeResumed) {
  const auto stream = Open();
  PublishMany(WatchHub::kRingMax + 10);
  for (const char* id : {"7-2", "6-3", "7-99999", "7-", "7-x", "nonsense"}) {
    EXPECT_TRUE(absl::IsOutOfRange(hub_.Open(Everything(), id, kNow).status())) << id;
  }
}

TEST_F(WatchHubTest, AfterAMinuteWithoutListenersNothingIsRemembered) {
  Open()->Close(false);
  EXPECT_TRUE(hub_.IsWanted(kNow + absl::Seconds(59)));
  const Instant later = kNow + WatchHub::kMemory;
  EXPECT_FALSE(hub_.IsWanted(later));
  EXPECT_TRUE(absl::IsOutOfRange(hub_.Open(Everything(), "7-1", later).status()));
}

TEST_F(WatchHubTest, TheNumberOfStreamsIsCapped) {
  const auto first = Open();
  const auto second = Open();
  const auto third = Open();
  EXPECT_TRUE(absl::IsResourceExhausted(hub_.Open(Everything(), "", kNow).status()));
  EXPECT_EQ(hub_.counts().open, 3);
  EXPECT_EQ(hub_.counts().refused_total, 1);
  first->Close(false);
  EXPECT_TRUE(hub_.Open(Everything(), "", kNow).ok());
}

TEST_F(WatchHubTest, ASlowReaderIsClosedAndCountedAndTheOthersAreServed) {
  const auto slow = Open();
  const auto quick = Open();
  for (int i = 0; i < 3; ++i) {
    PublishMany(100);
    EXPECT_EQ(quick->Take().size(), 100u);
  }
  EXPECT_TRUE(slow->broken());
  EXPECT_EQ(hub_.counts().closed_slow_total, 1);
  EXPECT_EQ(hub_.counts().frames_dropped_total, 300);
  EXPECT_FALSE(quick->broken());
}

TEST_F(WatchHubTest, AReaderThatTookTooLongForAPieceIsCounted) {
  Open()->Close(true);
  EXPECT_EQ(hub_.counts().closed_slow_total, 1);
  EXPECT_EQ(hub_.counts().open, 0);
}

TEST_F(WatchHubTest, ABurstThatFitsNoQueueIsAReset) {
  const auto stream = Open();
  PublishMany(WatchHub::kQueueMax + 1);
  EXPECT_THAT(Written(*stream), ElementsAre(HasSubstr("event: reset\n")));
  PublishMany(WatchHub::kRingMax + 1);
  EXPECT_THAT(Written(*stream), ElementsAre(HasSubstr("event: reset\n")));
}

TEST_F(WatchHubTest, AnIdleStreamIsKeptAliveByComments) {
  const auto stream = Open();
  hub_.Beat(kNow);
  stream->Take();
  hub_.Beat(kNow + absl::Seconds(14));
  EXPECT_THAT(Written(*stream), IsEmpty());
  hub_.Beat(kNow + absl::Seconds(15));
  EXPECT_THAT(Written(*stream), ElementsAre(StartsWith(":\n")));
}

TEST_F(WatchHubTest, ShutdownSaysGoodByeAndEndsAllStreams) {
  const auto stream = Open();
  hub_.Shutdown();
  EXPECT_THAT(Written(*stream), ElementsAre("event: bye\ndata: {}\n\n"));
  EXPECT_TRUE(stream->ended());
  EXPECT_FALSE(stream->broken());
  EXPECT_TRUE(absl::IsUnavailable(hub_.Open(Everything(), "", kNow).status()));
}

}  // namespace
}  // namespace plimsoll::internal
