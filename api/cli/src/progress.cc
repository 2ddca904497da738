#include "api/cli/src/progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace plimsoll::cli {
namespace {

constexpr int kBarWidth = 40;
// Before this share a guess of the rest would be noise.
constexpr double kGuessFrom = 0.02;

std::string Left(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 100) return absl::StrCat(whole, " s left");
  return absl::StrFormat("%d:%02d min left", whole / 60, whole % 60);
}

}  // namespace

std::string ProgressText(double share, absl::Duration elapsed) {
  share = std::clamp(share, 0.0, 1.0);
  const int full = static_cast<int>(share * kBarWidth);
  std::string text = absl::StrFormat(
      "[%s%s] %3d %%", std::string(static_cast<std::size_t>(full), '#'),
      std::string(static_cast<std::size_t>(kBarWidth - full), ' '), static_cast<int>(share * 100));
  if (share < kGuessFrom || share >= 1) return text;
  const double left = absl::ToDoubleSeconds(elapsed) / share * (1 - share);
  return absl::StrCat(text, ", ", Left(left));
}

Progress::Progress(ProgressStyle style, std::size_t jobs, const Clock& clock, Write write)
    : style_(style),
      clock_(clock),
      write_(std::move(write)),
      start_(clock.Now()),
      done_(jobs, 0.0) {}

void Progress::Report(std::size_t job, double share) {
  if (style_ == ProgressStyle::kNone) return;
  const MutexLock lock(mutex_);
  sum_ += share - done_[job];
  done_[job] = share;
  Show(sum_ / static_cast<double>(done_.size()));
}

void Progress::Show(double share) {
  const bool bar = style_ == ProgressStyle::kBar;
  // Sums of shares may miss 1 by a rounding error.
  const int step = static_cast<int>((share + 1e-9) * (bar ? 1000 : 10));
  if (step <= shown_ || (!bar && step == 0)) return;
  shown_ = step;
  const std::string text = ProgressText(share, clock_.Now() - start_);
  write_(bar ? absl::StrCat("\r", text, "\x1b[K") : absl::StrCat(step * 10, " % done\n"));
}

void Progress::Finish() {
  const MutexLock lock(mutex_);
  if (style_ == ProgressStyle::kBar) write_("\r\x1b[K");
}

}  // namespace plimsoll::cli
