#pragma once

#include <istream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace plimsoll {

struct HashedToken {
  std::string token;  // only if it was made here: to be shown once, apart from the line
  std::string line;   // for the file of tokens
};

// `plimsoll-controller hash-token NAME ROLE [--stdin]`, without the first two words: makes a token,
// or reads one from the first line of `in`. kInvalidArgument says what is wrong with the arguments
// or the token, without showing the latter.
absl::StatusOr<HashedToken> HashTokenCommand(const std::vector<std::string>& arguments,
                                             std::istream& in);

}  // namespace plimsoll
