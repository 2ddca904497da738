#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/http/src/http_message.h"
#include "plimsoll/http/access.h"

namespace plimsoll::internal {

// How a certificate's names and the names in rules are compared: with their kind, so that a DNS
// name that looks like a URI is none. "DNS:a.example.org", "URI:spiffe://…", "IP:10.0.0.1",
// "email:a@example.org". Pure.
std::string SanKey(const std::string& san);

// Finds out who sent a request on one plane. Thread-compatible.
class Authenticator {
 public:
  // `anonymous` is what callers without credentials may do.
  Authenticator(std::shared_ptr<const AccessRules> rules, Role anonymous)
      : rules_(std::move(rules)), anonymous_(anonymous) {}

  // Sets the identity from the Authorization header or, without one, from the names of the client's
  // certificate; takes the header out, so that nobody behind can show it. Wrong credentials are
  // worse than none: they make the caller anonymous without any role, and `credentials_fault` says
  // why. A certificate that no rule knows counts as none.
  void Identify(HttpRequest& request) const;

 private:
  void IdentifyByToken(const std::string& authorization, HttpRequest& request) const;
  const CertificateRule* FindCertificate(const std::vector<std::string>& names) const;

  std::shared_ptr<const AccessRules> rules_;
  Role anonymous_;
};

}  // namespace plimsoll::internal
