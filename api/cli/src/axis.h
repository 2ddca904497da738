#pragma once

#include <string>
#include <vector>

namespace plimsoll::cli {

// Maps values to [0, 1] of an axis. Thread-compatible.
class Axis {
 public:
  // From 0 to a round number at or above `largest`.
  static Axis Linear(double largest);
  // From a power of ten, or 2 or 5 times one, to another; for positive values.
  static Axis Logarithmic(double smallest, double largest);

  // Clamped; 0 for what is not above it.
  double Place(double value) const;
  // Where it is labelled, ascending, 2 to 8 of them.
  const std::vector<double>& ticks() const { return ticks_; }

 private:
  double low_ = 0;
  double high_ = 1;
  bool logarithmic_ = false;
  std::vector<double> ticks_;
};

// "0", "0.5", "250", "12k": short and without loss for ticks.
std::string TickText(double value);

// About `count` round steps from 0 to `length`.
std::vector<double> TimeTicks(double length, int count);

}  // namespace plimsoll::cli
