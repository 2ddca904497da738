#include "api/cli/src/axis.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace plimsoll::cli {
namespace {

// The smallest of 1, 2, 5 times a power of ten that is at least `value`.
double RoundUp(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= value * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

double RoundDown(double value) {
  const double power = std::pow(10, std::floor(std::log10(value) + 1e-9));
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= value * (1 + 1e-9)) return factor * power;
  }
  return power;
}

}  // namespace

Axis Axis::Linear(double largest) {
  Axis axis;
  if (!(largest > 0) || !std::isfinite(largest)) largest = 1;
  const double step = RoundUp(largest / 5);
  const double steps = std::max(1.0, std::ceil(largest / step - 1e-9));
  axis.high_ = step * steps;
  for (int i = 0; i <= static_cast<int>(steps); ++i) axis.ticks_.push_back(step * i);
  return axis;
}

Axis Axis::Logarithmic(double smallest, double largest) {
  Axis axis;
  if (!(smallest > 0) || !std::isfinite(smallest)) smallest = 1;
  if (!(largest > smallest) || !std::isfinite(largest)) largest = smallest * 10;
  axis.logarithmic_ = true;
  axis.low_ = RoundDown(smallest);
  axis.high_ = RoundUp(largest);
  const bool wide = axis.high_ / axis.low_ > 200;
  for (double tick = axis.low_; tick <= axis.high_ * (1 + 1e-9); tick = RoundUp(tick * 1.01)) {
    const double decade = std::log10(tick);
    if (!wide || std::abs(decade - std::round(decade)) < 1e-9) axis.ticks_.push_back(tick);
  }
  return axis;
}

double Axis::Place(double value) const {
  const double place = logarithmic_ ? std::log(value / low_) / std::log(high_ / low_)
                                    : (value - low_) / (high_ - low_);
  return place > 0 ? std::min(place, 1.0) : 0;
}

std::string TickText(double value) {
  if (value >= 10'000) return absl::StrFormat("%gk", value / 1000);
  return absl::StrFormat("%g", value);
}

std::vector<double> TimeTicks(double length, int count) {
  std::vector<double> ticks;
  if (!(length > 0) || !std::isfinite(length)) return {0};
  const double rough = length / count;
  double step = RoundUp(rough);
  // Minutes are round as well.
  for (const double minutes : {15.0, 30.0, 60.0, 120.0, 300.0, 600.0}) {
    if (minutes >= rough && minutes < step) step = minutes;
  }
  for (double at = 0; at <= length * (1 + 1e-9); at += step) ticks.push_back(at);
  return ticks;
}

}  // namespace plimsoll::cli
