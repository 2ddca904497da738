#include "api/cli/src/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/agent/manual_clock.h"

namespace plimsoll::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class ProgressTest : public ::testing::Test {
 protected:
  Progress Make(ProgressStyle style, std::size_t jobs) {
    return Progress(style, jobs, clock_,
                    [this](const std::string& text) { written_.push_back(text); });
  }

  ManualClock clock_;
  std::vector<std::string> written_;
};

TEST(ProgressTextTest, GuessesTheRestFromWhatIsDone) {
  EXPECT_EQ(ProgressText(0.5, absl::Seconds(30)),
            "[####################                    ]  50 %, 30 s left");
  EXPECT_THAT(ProgressText(0.25, absl::Minutes(10)), HasSubstr("25 %, 30:00 min left"));
}

TEST(ProgressTextTest, DoesNotGuessFromNothing) {
  EXPECT_THAT(ProgressText(0.01, absl::Seconds(1)), Not(HasSubstr("left")));
  EXPECT_THAT(ProgressText(1, absl::Seconds(1)), Not(HasSubstr("left")));
}

TEST_F(ProgressTest, WritesALinePerTenth) {
  Progress progress = Make(ProgressStyle::kLines, 2);
  progress.Report(0, 0.1);
  EXPECT_THAT(written_, IsEmpty());
  progress.Report(0, 0.2);
  progress.Report(0, 0.25);
  progress.Report(1, 1);
  progress.Report(0, 1);
  progress.Finish();
  EXPECT_THAT(written_, ElementsAre("10 % done\n", "60 % done\n", "100 % done\n"));
}

TEST_F(ProgressTest, TheBarIsDrawnOverAndRemoved) {
  Progress progress = Make(ProgressStyle::kBar, 1);
  clock_.Advance(absl::Seconds(4));
  progress.Report(0, 0.5);
  progress.Report(0, 0.5);
  progress.Finish();
  ASSERT_THAT(written_, SizeIs(2));
  EXPECT_EQ(written_[0], "\r[####################                    ]  50 %, 4 s left\x1b[K");
  EXPECT_EQ(written_[1], "\r\x1b[K");
}

TEST_F(ProgressTest, NothingIsWrittenIfNoneIsWanted) {
  Progress progress = Make(ProgressStyle::kNone, 1);
  progress.Report(0, 1);
  progress.Finish();
  EXPECT_THAT(written_, IsEmpty());
}

}  // namespace
}  // namespace plimsoll::cli
