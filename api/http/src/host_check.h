#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::internal {

// "example.org:7480" is "example.org", "[::1]:7480" is "::1"; in lower case.
std::string HostName(std::string_view authority);

// Whether a browser may be talking to us on purpose. A page on another site can be made to resolve
// to this address (DNS rebinding); what it cannot do is send a Host header with our name.
// Thread-safe.
class HostCheck {
 public:
  HostCheck(const std::string& listen_address, const std::vector<std::string>& names);

  // A loopback name, the listen address, a configured name, or the very address that was reached.
  // An absent header is allowed: no browser leaves it out.
  bool IsOurs(const std::string& host_header, const std::string& local_address) const;
  // An Origin header names one of our own pages; absent ones are not from a page.
  bool IsOwnOrigin(const std::string& origin, const std::string& local_address) const;

 private:
  std::vector<std::string> names_;
};

}  // namespace plimsoll::internal
