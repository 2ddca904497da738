#include "api/http/src/unheard_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace plimsoll::internal {
namespace {

constexpr absl::Duration kStep = UnheardWatch::kLookEvery;
constexpr absl::Duration kHold = absl::Milliseconds(400);
constexpr absl::Duration kUnheardAfter = absl::Seconds(1);

class UnheardWatchTest : public ::testing::Test {
 protected:
  void Look() {
    now_ = now_ + kStep;
    const std::optional<Hearing> hearing = watch_.Look(now_, leads_, store_answers_);
    if (hearing.has_value()) heard_.push_back(*hearing);
  }
  void Pass(absl::Duration time) {
    for (absl::Duration passed; passed < time; passed += kStep) Look();
  }
  // As an agent does: asks, is held, answered, and asks again.
  void Sync(const std::string& session, absl::Duration held = kHold) {
    watch_.Asked();
    Pass(held);
    watch_.Synced(0, SessionId(session));
    watch_.Settled();
    Look();
  }
  void SyncFor(absl::Duration time, const std::string& session = "a") {
    for (const Instant end = now_ + time; now_ < end;) Sync(session);
  }
  static std::vector<Hearing> Once(Hearing hearing) { return {hearing}; }

  UnheardWatch watch_{kUnheardAfter, kHold};
  Instant now_ = Instant() + absl::Hours(1);
  bool leads_ = true;
  bool store_answers_ = true;
  std::vector<Hearing> heard_;
};

TEST_F(UnheardWatchTest, AReignThatHasHeardNobodyIsNeverUnheard) {
  Pass(absl::Hours(1));
  EXPECT_TRUE(heard_.empty());
}

TEST_F(UnheardWatchTest, AgentsThatAllFallSilentAreMissedOnce) {
  SyncFor(absl::Seconds(5));
  const Instant silent = now_;
  while (heard_.empty() && now_ < silent + absl::Minutes(1)) Look();
  EXPECT_EQ(heard_, Once(Hearing::kUnheard));
  EXPECT_LE(now_ - silent, kUnheardAfter + 2 * kStep);
  Pass(absl::Hours(1));
  EXPECT_EQ(heard_, Once(Hearing::kUnheard));
}

TEST_F(UnheardWatchTest, WhoIsHeardInTimeIsNotMissed) {
  for (int i = 0; i < 100; ++i) {
    Sync("a");
    Pass(kUnheardAfter - 2 * kStep);
  }
  EXPECT_TRUE(heard_.empty());
}

TEST_F(UnheardWatchTest, AsLongAsOneIsHeardTheOthersMayFallSilent) {
  SyncFor(absl::Seconds(5), "a");
  SyncFor(absl::Minutes(5), "b");
  EXPECT_TRUE(heard_.empty());
}

// Its store is slow, or gone: it is the controller that is silent.
TEST_F(UnheardWatchTest, AnAnswerThatIsOwedIsNoSilenceOfAgents) {
  SyncFor(absl::Seconds(5));
  watch_.Asked();
  Pass(2 * kUnheardAfter);
  EXPECT_TRUE(heard_.empty());
  watch_.Settled();
  Pass(kUnheardAfter + 2 * kStep);
  EXPECT_EQ(heard_, Once(Hearing::kUnheard)) << "from then on it is";
}

TEST_F(UnheardWatchTest, WhileTheStoreFailsNothingIsConcluded) {
  SyncFor(absl::Seconds(5));
  store_answers_ = false;
  Pass(absl::Minutes(1));
  EXPECT_TRUE(heard_.empty());
}

TEST_F(UnheardWatchTest, WhoLeftInGoodOrderIsNotMissed) {
  SyncFor(absl::Seconds(5), "a");
  SyncFor(absl::Seconds(1), "b");
  for (const char* session : {"a", "b"}) {
    watch_.Asked();
    watch_.Released(0, SessionId(session));
    watch_.Settled();
  }
  Pass(absl::Minutes(1));
  EXPECT_TRUE(heard_.empty());
}

TEST_F(UnheardWatchTest, NorWhoHadDiedBeforeTheOthersLeft) {
  SyncFor(absl::Seconds(5), "dead");
  SyncFor(absl::Seconds(10), "b");
  watch_.Released(0, SessionId("b"));
  Pass(absl::Minutes(1));
  EXPECT_TRUE(heard_.empty());
}

TEST_F(UnheardWatchTest, WhoAsksRarelyIsNoWitness) {
  for (int i = 0; i < 20; ++i) {
    Sync("a", absl::ZeroDuration());
    Pass(absl::Seconds(5));
  }
  EXPECT_TRUE(heard_.empty());
}

// Stopped, or on a machine that was suspended.
TEST_F(UnheardWatchTest, ItsOwnPauseIsNoSilenceOfAgents) {
  SyncFor(absl::Seconds(5));
  for (int i = 0; i < 20; ++i) {
    now_ = now_ + absl::Seconds(30);
    Look();
    Sync("a");
  }
  EXPECT_TRUE(heard_.empty());
}

TEST_F(UnheardWatchTest, WhoStandsByIsNotUnheard) {
  leads_ = false;
  for (int i = 0; i < 10; ++i) {
    watch_.Asked();  // and is sent elsewhere
    watch_.Settled();
    Look();
  }
  Pass(absl::Minutes(1));
  EXPECT_TRUE(heard_.empty());
  leads_ = true;
  Pass(absl::Minutes(1));
  EXPECT_TRUE(heard_.empty()) << "what was before the reign does not count";
}

TEST_F(UnheardWatchTest, AnybodyWhoAsksEndsIt) {
  SyncFor(absl::Seconds(5));
  Pass(absl::Seconds(3));
  leads_ = false;
  Pass(absl::Seconds(3));
  watch_.Asked();
  watch_.Settled();
  Pass(absl::Seconds(3));
  EXPECT_EQ(heard_, (std::vector<Hearing>{Hearing::kUnheard, Hearing::kHeardAgain}));
  leads_ = true;
  Pass(absl::Minutes(1));
  EXPECT_EQ(heard_.size(), 2u) << "the next reign begins anew";
}

TEST_F(UnheardWatchTest, ALaterReignThatHearsNobodyEitherIsToldOfOnce) {
  SyncFor(absl::Seconds(5));
  Pass(absl::Seconds(3));
  leads_ = false;
  Pass(absl::Minutes(1));
  leads_ = true;
  Pass(absl::Hours(1));
  EXPECT_EQ(heard_, (std::vector<Hearing>{Hearing::kUnheard, Hearing::kStillUnheard}));
  leads_ = false;
  Look();
  leads_ = true;
  Pass(absl::Hours(1));
  EXPECT_EQ(std::count(heard_.begin(), heard_.end(), Hearing::kStillUnheard), 2);
}

// Agents that are heard, but never long enough: a bad network everywhere. It must not change hands
// all the time.
TEST_F(UnheardWatchTest, AfterThatItTakesSteadyAgentsToBeUnheardAgain) {
  SyncFor(absl::Seconds(5));
  Pass(absl::Seconds(3));
  heard_.clear();
  for (int i = 0; i < 20; ++i) {
    Sync("a");
    Pass(absl::Seconds(5));
  }
  EXPECT_EQ(heard_, Once(Hearing::kHeardAgain));
}

}  // namespace
}  // namespace plimsoll::internal
