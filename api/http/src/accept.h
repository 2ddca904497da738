#pragma once

#include <string>
#include <string_view>

namespace plimsoll::internal {

// Whether a client that sent this Accept header (RFC 9110, 12.5.1) takes an answer of this type,
// such as "application/json". Of several entries that fit, the most specific one counts; parameters
// but the weight are not looked at. An empty header takes everything. Pure. Linear in the header.
bool Accepts(const std::string& accept, std::string_view type);

}  // namespace plimsoll::internal
