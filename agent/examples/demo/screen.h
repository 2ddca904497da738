#pragma once

#include <string>
#include <utility>

#include "agent/examples/demo/report.h"

namespace plimsoll::demo {

enum class ScreenMode {
  kLive,   // one line that is drawn again and again, for terminals
  kPlain,  // a line a second
  kQuiet,
};

// What a lane looks like at a moment.
struct Moment {
  std::string lane;
  double seconds = 0;  // since the start of the lane
  int quota = 0;
  int in_flight = 0;
  int in_flight_max = 0;  // since the last moment that was drawn
  Report total;           // since the start of the lane
};

// Shows progress on standard error. Thread-compatible.
class Screen {
 public:
  explicit Screen(ScreenMode mode) : mode_(mode) {}
  // Where the console is: "http://127.0.0.1:41234/ui/".
  void set_console(std::string url) { console_ = std::move(url); }

  // True if it is time to draw again; then Draw() is due.
  bool IsDue(double seconds) const;
  void Draw(const Moment& moment);
  // A line of its own, for what happens now.
  void Say(const std::string& text);
  // What there is to see on a page of the console meanwhile, such as "instances".
  void Look(const std::string& page, const std::string& text);
  // The lane is over, another one may begin.
  void EndLane();

 private:
  const ScreenMode mode_;
  std::string console_;
  double drawn_at_ = 0;
  Report drawn_;
};

}  // namespace plimsoll::demo
