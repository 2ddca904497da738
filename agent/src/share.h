#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// A part of a limit, in whole numbers, so that 0.29 of 100 is 29. Immutable.
class Share {
 public:
  constexpr Share() = default;
  // Rounded to a millionth, at least one.
  explicit Share(double share) : millionths_(std::max(1L, std::lround(share * kWhole))) {}

  constexpr bool whole() const { return millionths_ == kWhole; }
  // max(1, floor(share * limit)), and 0 of 0.
  constexpr Calls Of(Calls limit) const {
    if (whole() || limit <= 0) return limit;
    return std::max<Calls>(1, static_cast<Calls>(millionths_ * limit / kWhole));
  }

 private:
  static constexpr std::int64_t kWhole = 1'000'000;

  std::int64_t millionths_ = kWhole;
};

}  // namespace plimsoll::internal
