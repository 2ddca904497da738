#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace plimsoll {

// What a client may do.
enum class Role {
  kNone,      // what is open to everybody: health, the console's files, the description of the API
  kViewer,    // read on the API plane
  kAgent,     // use the agent plane, with sessions that it opened itself
  kOperator,  // read and change on the API plane
};

// Whether who has the role `held` may do what the role `needed` may: an operator is a viewer, too,
// and kNone is needed of nobody. Pure.
constexpr bool Includes(Role held, Role needed) {
  return needed == Role::kNone || held == needed ||
         (held == Role::kOperator && needed == Role::kViewer);
}

// "none", "viewer", "agent", "operator".
std::string_view ToString(Role role);
// Of a word for a role that can be given: all but "none".
std::optional<Role> RoleFromString(const std::string& word);

}  // namespace plimsoll
