#include "agent/middleware/httplib/src/retry_after.h"

#include <algorithm>
#include <array>

#include "agent/middleware/httplib/src/digits.h"

namespace plimsoll::internal {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::string_view kShape = "Sun, 06 Nov 1994 08:49:37 GMT";

// Seconds of an IMF-fixdate, "Sun, 06 Nov 1994 08:49:37 GMT". The two obsolete forms that RFC 9110
// also knows are refused: nobody sends them in a Retry-After. Not strptime(): it obeys the locale.
std::optional<long long> ParseHttpDate(std::string_view text) {
  if (text.size() != kShape.size() || text.substr(3, 2) != ", " || text.substr(25) != " GMT") {
    return {};
  }
  const auto number = [&](std::size_t at, std::size_t size) {
    return ParseDigits(text.substr(at, size)).value_or(-1);
  };
  const auto month = std::ranges::find(kMonths, text.substr(8, 3));
  const std::chrono::year_month_day day{
      std::chrono::year(static_cast<int>(number(12, 4))),
      std::chrono::month(static_cast<unsigned>(month - kMonths.begin()) + 1),
      std::chrono::day(static_cast<unsigned>(number(5, 2)))};
  const long long hour = number(17, 2), minute = number(20, 2), second = number(23, 2);
  const bool valid = day.ok() && number(12, 4) >= 0 && hour >= 0 && hour < 24 && minute >= 0 &&
                     minute < 60 && second >= 0 && second <= 60 && text[19] == ':' &&
                     text[22] == ':';
  if (!valid) return {};
  const long long days = std::chrono::sys_days(day).time_since_epoch().count();
  return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

}  // namespace

std::optional<std::chrono::seconds> ParseRetryAfter(std::string_view value, std::string_view date,
                                                    std::chrono::seconds max) {
  std::optional<long long> seconds = ParseDigits(value, 18);
  if (!seconds) {
    const auto until = ParseHttpDate(value);
    const auto now = ParseHttpDate(date);
    if (!until || !now) return {};
    seconds = std::max(*until - *now, 0LL);
  }
  return std::min(std::chrono::seconds(*seconds), max);
}

}  // namespace plimsoll::internal
