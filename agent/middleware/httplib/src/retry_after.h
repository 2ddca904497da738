#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace plimsoll::internal {

// Retry-After as seconds or, if `date` (the answer's own Date header, so that no clock need agree)
// is there too, as an HTTP date of RFC 9110; one in the past is zero. Nothing if it is malformed.
std::optional<std::chrono::seconds> ParseRetryAfter(std::string_view value, std::string_view date,
                                                    std::chrono::seconds max);

}  // namespace plimsoll::internal
