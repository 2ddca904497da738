#include "api/http/src/authenticator.h"

#include <arpa/inet.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace plimsoll::internal {
namespace {

bool IsAddress(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

// The token of "Bearer TOKEN"; the scheme is not case-sensitive. Empty if it is anything else.
std::string BearerToken(const std::string& authorization) {
  constexpr std::size_t kScheme = 7;
  if (!absl::StartsWithIgnoreCase(authorization, "bearer ")) return "";
  std::string token = authorization.substr(kScheme);
  absl::StripAsciiWhitespace(&token);
  return token;
}

}  // namespace

std::string SanKey(const std::string& san) {
  if (san.find("://") != std::string::npos) return absl::StrCat("URI:", san);
  if (san.find('@') != std::string::npos) return absl::StrCat("email:", san);
  if (IsAddress(san)) return absl::StrCat("IP:", san);
  return absl::StrCat("DNS:", absl::AsciiStrToLower(san));
}

void Authenticator::Identify(HttpRequest& request) const {
  const std::string authorization = std::exchange(request.authorization, "");
  request.identity = {kAnonymous, anonymous_};
  if (!authorization.empty()) return IdentifyByToken(authorization, request);
  if (const CertificateRule* rule = FindCertificate(request.certificate_names)) {
    request.identity = {rule->name, rule->role};
  }
}

// Looks at every rule, whichever fits, and compares in constant time: how long it takes says
// nothing about the tokens there are.
void Authenticator::IdentifyByToken(const std::string& authorization, HttpRequest& request) const {
  request.identity = {kAnonymous, Role::kNone};
  const std::string token = BearerToken(authorization);
  if (token.empty()) {
    request.credentials_fault = "the Authorization header must be 'Bearer TOKEN'";
    return;
  }
  const TokenHash hash = HashToken(token);
  const TokenRule* found = nullptr;
  for (const TokenRule& rule : rules_->tokens) {
    if (CRYPTO_memcmp(rule.sha256.data(), hash.data(), hash.size()) == 0) found = &rule;
  }
  if (found == nullptr) {
    request.credentials_fault = "this token is not known here";
    return;
  }
  request.identity = {found->name, found->role};
}

const CertificateRule* Authenticator::FindCertificate(const std::vector<std::string>& names) const {
  for (const CertificateRule& rule : rules_->certificates) {
    if (std::find(names.begin(), names.end(), SanKey(rule.san)) != names.end()) return &rule;
  }
  return nullptr;
}

}  // namespace plimsoll::internal
