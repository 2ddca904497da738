#include "controller/main/hash_token.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "controller/config/faults.h"
#include "controller/main/access_config.h"

namespace plimsoll {
namespace {

absl::Status Wrong(const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat(what,
                   "\nusage: plimsoll-controller hash-token NAME ROLE [--stdin]\n"
                   "ROLE is viewer, agent or operator; --stdin reads the token instead of "
                   "making one"));
}

absl::StatusOr<std::string> ReadToken(std::istream& in) {
  std::string token;
  std::getline(in, token);
  if (token.ends_with('\r')) token.pop_back();
  const absl::Status usable = CheckToken(token);
  if (!usable.ok()) return Wrong(std::string(usable.message()));
  return token;
}

}  // namespace

absl::StatusOr<HashedToken> HashTokenCommand(const std::vector<std::string>& arguments,
                                             std::istream& in) {
  const bool given = arguments.size() == 3 && arguments[2] == "--stdin";
  if (arguments.size() != 2 && !given) return Wrong("a name and a role are needed");
  const std::optional<Role> role = RoleFromString(arguments[1]);
  if (!IsTokenName(arguments[0])) return Wrong(absl::StrCat("bad name ", Quoted(arguments[0])));
  if (!role) return Wrong(absl::StrCat("unknown role ", Quoted(arguments[1])));
  const absl::StatusOr<std::string> token = given ? ReadToken(in) : MakeToken();
  if (!token.ok()) return token.status();
  return HashedToken{given ? "" : *token, TokenLine(arguments[0], *role, HashToken(*token))};
}

}  // namespace plimsoll
