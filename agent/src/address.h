#pragma once

#include <optional>
#include <string>

namespace plimsoll::internal {

// Where a controller listens.
struct Address {
  std::string host;  // a name, an IPv4 address, or an IPv6 address without its brackets
  int port = 0;
  bool tls = false;
};

// Of "http://host:port" or "https://host:port"; nothing if it is anything else.
std::optional<Address> ParseAddress(const std::string& text);

}  // namespace plimsoll::internal
