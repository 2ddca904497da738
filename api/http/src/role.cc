#include "plimsoll/http/role.h"

namespace plimsoll {

std::string_view ToString(Role role) {
  switch (role) {
    case Role::kViewer:
      return "viewer";
    case Role::kAgent:
      return "agent";
    case Role::kOperator:
      return "operator";
    case Role::kNone:
      break;
  }
  return "none";
}

std::optional<Role> RoleFromString(const std::string& word) {
  for (const Role role : {Role::kViewer, Role::kAgent, Role::kOperator}) {
    if (word == ToString(role)) return role;
  }
  return std::nullopt;
}

}  // namespace plimsoll
