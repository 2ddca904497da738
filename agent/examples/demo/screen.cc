#include "agent/examples/demo/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace plimsoll::demo {
namespace {

constexpr double kLiveInterval = 0.25;
constexpr double kPlainInterval = 1;
constexpr int kBarWidth = 40;
constexpr int kBarCalls = 160;  // eight replicas with a limit of 20 each

// "########----|........": calls in flight now, the most since the last look, and the quota.
std::string Bar(const Moment& moment) {
  const auto column = [](int calls) { return std::min(kBarWidth, calls * kBarWidth / kBarCalls); };
  std::string bar(kBarWidth, ' ');
  std::fill_n(bar.begin(), column(moment.in_flight_max), '-');
  std::fill_n(bar.begin(), column(moment.in_flight), '#');
  bar.insert(static_cast<std::size_t>(column(moment.quota)), "|");
  return bar;
}

// A line that is drawn again must not be longer than the terminal is wide.
std::string Cut(std::string line) {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  if (known && line.size() >= size.ws_col) line.resize(size.ws_col - 1U);
  return line;
}

}  // namespace

bool Screen::IsDue(double seconds) const {
  if (mode_ == ScreenMode::kQuiet) return false;
  return seconds - drawn_at_ >= (mode_ == ScreenMode::kLive ? kLiveInterval : kPlainInterval);
}

void Screen::Draw(const Moment& moment) {
  const double elapsed = std::max(moment.seconds - drawn_at_, 0.001);
  const auto rate = [&](std::int64_t now, std::int64_t then) {
    return static_cast<double>(now - then) / elapsed;
  };
  const std::string line = absl::StrFormat(
      "%-9s %5.1f s  [%s] in flight %3d (max %3d)  limits %3d  good %4.0f/s  failed %4.0f/s  "
      "refused %4.0f/s",
      moment.lane, moment.seconds, Bar(moment), moment.in_flight, moment.in_flight_max,
      moment.total.limit, rate(moment.total.succeeded, drawn_.succeeded),
      rate(moment.total.errors, drawn_.errors), rate(moment.total.rejected, drawn_.rejected));
  if (mode_ == ScreenMode::kLive) {
    std::fprintf(stderr, "\r\033[K%s", Cut(line).c_str());
  } else {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  drawn_at_ = moment.seconds;
  drawn_ = moment.total;
}

void Screen::Say(const std::string& text) {
  if (mode_ == ScreenMode::kQuiet) return;
  std::fprintf(stderr, "%s%s\n", mode_ == ScreenMode::kLive ? "\r\033[K" : "", text.c_str());
}

void Screen::Look(const std::string& page, const std::string& text) {
  Say(absl::StrCat("                     look: ", console_, page, "\n                           ",
                   text));
}

void Screen::EndLane() {
  if (mode_ == ScreenMode::kLive) std::fprintf(stderr, "\n");
  drawn_at_ = 0;
  drawn_ = Report{};
}

}  // namespace plimsoll::demo
