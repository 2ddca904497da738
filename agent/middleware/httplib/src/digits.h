#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace plimsoll::internal {

// A number of 1 to `digits_max` digits and nothing else, not even a sign.
inline std::optional<long long> ParseDigits(std::string_view text, std::size_t digits_max = 9) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || text.size() > digits_max || !std::ranges::all_of(text, digit)) return {};
  long long number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace plimsoll::internal
