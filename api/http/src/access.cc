#include "plimsoll/http/access.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "plimsoll/core/check.h"

namespace plimsoll {
namespace {

constexpr std::size_t kTokenBytes = 32;

}  // namespace

TokenHash HashToken(const std::string& token) {
  TokenHash hash{};
  const bool hashed =
      EVP_Digest(token.data(), token.size(), hash.data(), nullptr, EVP_sha256(), nullptr) == 1;
  PLIMSOLL_CHECK(hashed, "every OpenSSL has SHA-256");
  return hash;
}

std::string ToHex(const TokenHash& hash) {
  std::string text;
  for (const unsigned char byte : hash) absl::StrAppendFormat(&text, "%02x", byte);
  return text;
}

std::optional<TokenHash> TokenHashFromHex(const std::string& text) {
  constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
  TokenHash hash{};
  if (text.size() != 2 * hash.size() || text.find_first_not_of(kDigits) != std::string::npos) {
    return std::nullopt;
  }
  const std::string bytes = absl::HexStringToBytes(text);
  std::copy(bytes.begin(), bytes.end(), hash.begin());
  return hash;
}

absl::StatusOr<std::string> MakeToken() {
  std::array<unsigned char, kTokenBytes> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return absl::UnavailableError("the system has no randomness to make a token of");
  }
  std::string token;
  absl::WebSafeBase64Escape(std::string(bytes.begin(), bytes.end()), &token);
  while (token.ends_with('=')) token.pop_back();
  return token;
}

AccessRules OpenAccess() {
  AccessRules rules;
  rules.api_anonymous = Role::kOperator;
  rules.agents_anonymous = Role::kAgent;
  return rules;
}

}  // namespace plimsoll
