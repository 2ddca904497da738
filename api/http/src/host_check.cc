#include "api/http/src/host_check.h"

#include <algorithm>

#include "absl/strings/ascii.h"

namespace plimsoll::internal {

std::string HostName(std::string_view authority) {
  std::string name = absl::AsciiStrToLower(std::string(authority));
  if (name.starts_with('[')) return name.substr(1, name.find(']') - 1);
  return name.substr(0, name.find(':'));
}

HostCheck::HostCheck(const std::string& listen_address, const std::vector<std::string>& names)
    : names_{"localhost", "127.0.0.1", "::1", absl::AsciiStrToLower(listen_address)} {
  for (const std::string& name : names) names_.push_back(absl::AsciiStrToLower(name));
}

bool HostCheck::IsOurs(const std::string& host_header, const std::string& local_address) const {
  if (host_header.empty()) return true;
  const std::string name = HostName(host_header);
  return name == local_address || std::find(names_.begin(), names_.end(), name) != names_.end();
}

bool HostCheck::IsOwnOrigin(const std::string& origin, const std::string& local_address) const {
  if (origin.empty()) return true;
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string::npos || scheme + 3 == origin.size()) return false;
  return IsOurs(origin.substr(scheme + 3), local_address);
}

}  // namespace plimsoll::internal
