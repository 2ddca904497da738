#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plimsoll/http/role.h"

namespace plimsoll {

// SHA-256 of a bearer token: what is kept of it.
using TokenHash = std::array<unsigned char, 32>;

TokenHash HashToken(const std::string& token);
// 64 hexadecimal digits, in lower case.
std::string ToHex(const TokenHash& hash);
// Nothing unless `text` has 64 hexadecimal digits.
std::optional<TokenHash> TokenHashFromHex(const std::string& text);
// A new token that nobody can guess: 256 bits of the system's randomness as 43 characters. Returns
// kUnavailable if the system has none.
absl::StatusOr<std::string> MakeToken();

// Who has this token is `name`. Several may have one name: the old and the new token of a rotation.
struct TokenRule {
  std::string name;
  Role role = Role::kNone;
  TokenHash sha256{};
};

// Who has a client certificate with this subject alternative name is `name`.
struct CertificateRule {
  // A URI ("spiffe://example.org/checkout"), an e-mail address, an IP address or else a DNS name;
  // compared whole, without patterns.
  std::string san;
  std::string name;
  Role role = Role::kNone;
};

// Who may do what. `anonymous` is the name of callers without credentials, so no rule may have it.
struct AccessRules {
  std::vector<TokenRule> tokens;
  std::vector<CertificateRule> certificates;
  // What callers without credentials may do, on each plane.
  Role api_anonymous = Role::kNone;
  Role agents_anonymous = Role::kNone;
  // Whether /metrics needs a viewer. Otherwise it is open.
  bool metrics_require_auth = false;
};

// Everybody may do everything: for loopback, where nothing else was asked for.
AccessRules OpenAccess();

// How fast one caller may ask on the API plane: `burst` requests at once, then `per_second`.
struct RateLimit {
  double per_second = 50;
  double burst = 100;
};

}  // namespace plimsoll
