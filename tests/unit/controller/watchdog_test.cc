#include "controller/main/watchdog.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

namespace plimsoll {
namespace {

class WatchdogTest : public ::testing::Test {
 protected:
  bool LookAt(absl::Duration since_start) { return watchdog_.Look(start_ + since_start); }
  void Answer() { questions_.back()(); }

  const Instant start_{1'000'000'000};
  std::vector<std::function<void()>> questions_;
  Watchdog watchdog_{absl::Seconds(30), [this](std::function<void()> answered) {
                       questions_.push_back(std::move(answered));
                     }};
};

TEST_F(WatchdogTest, SaysSoEveryHalfOfAPeriodWhileQuestionsAreAnswered) {
  EXPECT_FALSE(LookAt(absl::ZeroDuration()));
  Answer();
  EXPECT_FALSE(LookAt(absl::Seconds(14))) << "too early";
  EXPECT_TRUE(LookAt(absl::Seconds(15)));
  EXPECT_FALSE(LookAt(absl::Seconds(30))) << "the second question has not been answered";
  Answer();
  EXPECT_TRUE(LookAt(absl::Seconds(31)));
  EXPECT_EQ(questions_.size(), 3U);
}

TEST_F(WatchdogTest, WhoHangsIsNeverSaidToBeWellAndNotAskedAgain) {
  LookAt(absl::ZeroDuration());
  for (int second = 1; second < 300; ++second) EXPECT_FALSE(LookAt(absl::Seconds(second)));
  EXPECT_EQ(questions_.size(), 1U);
}

TEST_F(WatchdogTest, TheAnswerToAnEarlierQuestionProvesNothing) {
  LookAt(absl::ZeroDuration());
  Answer();
  EXPECT_TRUE(LookAt(absl::Seconds(15)));
  questions_.front()();
  EXPECT_FALSE(LookAt(absl::Seconds(30)));
}

TEST_F(WatchdogTest, PausesUntilItIsDueAndShortlyWhenItIsOverdue) {
  LookAt(absl::ZeroDuration());
  const auto pause = [this](absl::Duration since) {
    return watchdog_.Pause(start_ + since, absl::Seconds(2));
  };
  EXPECT_EQ(pause(absl::Seconds(1)), absl::Seconds(2));
  EXPECT_EQ(pause(absl::Seconds(14)), absl::Seconds(1));
  EXPECT_EQ(pause(absl::Seconds(16)), absl::Milliseconds(1500));
}

TEST(Watchdog, WithoutAPeriodNothingIsAsked) {
  int asked = 0;
  Watchdog watchdog(absl::ZeroDuration(), [&asked](const std::function<void()>&) { ++asked; });
  EXPECT_FALSE(watchdog.Look(Instant{1}));
  EXPECT_FALSE(watchdog.Look(Instant{1'000'000'000'000}));
  EXPECT_EQ(watchdog.Pause(Instant{1}, absl::Seconds(1)), absl::Seconds(1));
  EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace plimsoll
