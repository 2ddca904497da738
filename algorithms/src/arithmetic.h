#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "plimsoll/algorithms/config.h"
#include "plimsoll/core/types.h"

// The arithmetic of the reference where C++ leaves it open.
namespace plimsoll::internal {

// Towards zero, saturating, and 0 for NaN.
inline Calls Truncate(double value) {
  using Limits = std::numeric_limits<Calls>;
  if (std::isnan(value)) return 0;
  return static_cast<Calls>(std::clamp<double>(value, Limits::min(), Limits::max()));
}

// Either argument being NaN, the result is.
inline double MinOrNan(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return std::min(a, b);
}
inline double MaxOrNan(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return std::max(a, b);
}

// 2 * calls in 32 bits, which wraps.
inline Calls TwiceWrapping(Calls calls) {
  return static_cast<Calls>(static_cast<std::uint32_t>(calls) * 2U);
}

// At least 1 below a limit of 1000.
inline Calls Log10(Calls limit) {
  const Calls log10 = Truncate(std::log10(limit));
  return limit < 1000 ? std::max(1, log10) : log10;
}

inline double Apply(const LogRule& rule, Calls limit) {
  return rule.by_log10 ? static_cast<double>(rule.factor) * Log10(limit) : rule.factor;
}

inline double Queue(Calls queue_size, bool by_square_root, double estimate) {
  if (!by_square_root) return queue_size;
  return std::max({queue_size, 1, Truncate(std::sqrt(Truncate(estimate)))});
}

}  // namespace plimsoll::internal
