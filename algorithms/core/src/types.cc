#include "plimsoll/core/types.h"

#include <algorithm>

namespace plimsoll {
namespace {

constexpr std::size_t kNameLengthMax = 63;

bool IsAlphanumeric(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool IsInner(char c) { return IsAlphanumeric(c) || c == '.' || c == '_' || c == '~' || c == '-'; }

}  // namespace

bool IsValidName(const std::string& name) {
  if (name.empty() || name.size() > kNameLengthMax) return false;
  return IsAlphanumeric(name.front()) && IsAlphanumeric(name.back()) &&
         std::all_of(name.begin(), name.end(), IsInner);
}

}  // namespace plimsoll
