#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "controller/config/faults.h"
#include "controller/config/map_reader.h"
#include "controller/main/secret.h"
#include "plimsoll/http/server.h"

namespace plimsoll {

// What a configuration says about who may do what: the sections `auth` and `tls`, and what of `api`
// and `metrics` belongs to them. The files they name are not read yet.
struct AccessConfig {
  std::string tokens_file;
  bool has_tokens = false;                    // auth.tokens lists some
  std::vector<TokenRule> tokens;              // those of them whose variables were looked at
  std::vector<CertificateRule> certificates;  // auth.identities
  std::set<Role> anonymous;                   // auth.allow_anonymous
  bool metrics_require_auth = false;
  RateLimit api_rate_limit;
  TlsOptions tls;

  // There is a way to prove who one is.
  bool asks_for_credentials() const {
    return !tokens_file.empty() || has_tokens ||
           (!tls.client_ca_file.empty() && !certificates.empty());
  }
};

// What a token or a certificate may be named: a valid name, and not that of callers without any.
bool IsTokenName(const std::string& name);
// 127.0.0.0/8 and ::1.
bool IsLoopback(const std::string& address);

// Whether this can be a token: long enough not to be guessed from its hash, and fit for a header.
// The message does not show it.
absl::Status CheckToken(const std::string& token);

// Read their sections; what is wrong goes to `faults`. Without `variables`, tokens of the
// environment are only checked for their form.
void ReadAuth(MapReader auth, const VariableLookup& variables, AccessConfig& access,
              Faults& faults);
void ReadTls(MapReader tls, AccessConfig& access, Faults& faults);
void ReadRateLimit(MapReader limit, RateLimit& target, Faults& faults);
// What only shows when all sections are read.
void CheckAccess(const AccessConfig& access, Faults& faults);

// The message for a listener that strangers could reach without proving anything, though `role` has
// not been opened to them; empty if all is well.
std::string ExposureFault(const ListenAddress& address, Role role, const AccessConfig& access);

// The rules for listeners at these addresses. On loopback everything is open unless somebody asked
// for credentials. `tokens` are all there are.
AccessRules MakeAccessRules(const AccessConfig& access, const ListenAddress& api,
                            const ListenAddress& agents, std::vector<TokenRule> tokens);

// Reads the text of a file of tokens. All faults at once, as ParseConfig() does. Pure.
absl::StatusOr<std::vector<TokenRule>> ParseTokens(const std::string& text,
                                                   const std::string& name);

// A line for a file of tokens.
std::string TokenLine(const std::string& name, Role role, const TokenHash& hash);

}  // namespace plimsoll
