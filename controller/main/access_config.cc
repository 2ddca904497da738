#include "controller/main/access_config.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/config/scalars.h"
#include "controller/config/yaml_tree.h"
#include "plimsoll/core/types.h"

namespace plimsoll {
namespace {

constexpr double kRateMax = 1e6;
constexpr char kAnonymousName[] = "anonymous";
// What is shorter can be guessed by whoever reads the file of hashes.
constexpr std::size_t kTokenLengthMin = 16;

const std::vector<std::pair<std::string, Role>>& Roles() {
  static const auto& roles = *new std::vector<std::pair<std::string, Role>>{
      {"viewer", Role::kViewer}, {"agent", Role::kAgent}, {"operator", Role::kOperator}};
  return roles;
}

// A name and a role, both of which must be there.
void ReadIdentity(MapReader& map, std::string& name, Role& role, Faults& faults) {
  map.Text("name", name);
  if (!IsTokenName(name)) {
    faults.Add(map.Pointer("name"),
               absl::StrCat("must be a name of 1 to 63 letters, digits, '.', '_', '~' or '-', and "
                            "not \"anonymous\", not ",
                            Quoted(name)));
  }
  if (map.Find("role") == nullptr) {
    faults.Add(map.Pointer("role"), "is missing: viewer, agent or operator");
  }
  map.Word("role", Roles(), {}, role);
}

void ReadIdentities(MapReader& auth, AccessConfig& access, Faults& faults) {
  const std::vector<YamlNode>& items = auth.List("identities");
  for (std::size_t i = 0; i < items.size(); ++i) {
    MapReader map(items[i], Below(auth.Pointer("identities"), absl::StrCat(i)), faults);
    CertificateRule rule;
    map.Text("san", rule.san);
    if (rule.san.empty() || rule.san.find('*') != std::string::npos) {
      faults.Add(map.Pointer("san"),
                 "must be a subject alternative name, whole and without patterns, such as "
                 "\"checkout.example.com\" or \"spiffe://example.com/checkout\"");
    }
    ReadIdentity(map, rule.name, rule.role, faults);
    map.Finish();
    access.certificates.push_back(std::move(rule));
  }
}

bool HasToken(const std::vector<TokenRule>& tokens, const TokenHash& hash) {
  return std::any_of(tokens.begin(), tokens.end(),
                     [&hash](const TokenRule& other) { return other.sha256 == hash; });
}

// Only the hash is kept.
void ReadTokensOfEnvironment(MapReader& auth, const VariableLookup& variables, AccessConfig& access,
                             Faults& faults) {
  const std::vector<YamlNode>& items = auth.List("tokens");
  access.has_tokens = !items.empty();
  for (std::size_t i = 0; i < items.size(); ++i) {
    MapReader map(items[i], Below(auth.Pointer("tokens"), absl::StrCat(i)), faults);
    TokenRule rule;
    ReadIdentity(map, rule.name, rule.role, faults);
    const std::optional<std::string> token = ReadSecret(map, "token", variables, faults);
    map.Finish();
    if (!token.has_value()) continue;
    rule.sha256 = HashToken(*token);
    if (const absl::Status usable = CheckToken(*token); !usable.ok()) {
      faults.Add(map.Pointer("token"),
                 absl::StrCat("the variable has no token: ", std::string(usable.message())));
    } else if (HasToken(access.tokens, rule.sha256)) {
      faults.Add(map.Pointer("token"), "another entry has the same token", FaultCode::kConflict);
    }
    access.tokens.push_back(std::move(rule));
  }
}

void ReadAnonymous(MapReader& auth, AccessConfig& access, Faults& faults) {
  const std::vector<YamlNode>& items = auth.List("allow_anonymous");
  std::vector<std::string> known;
  for (const auto& [name, role] : Roles()) known.push_back(name);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::optional<Role> role =
        items[i].kind == YamlNode::Kind::kScalar ? RoleFromString(items[i].text) : std::nullopt;
    if (role) {
      access.anonymous.insert(*role);
    } else {
      faults.Add(Below(auth.Pointer("allow_anonymous"), absl::StrCat(i)),
                 absl::StrCat("must be one of ", absl::StrJoin(known, ", "), ", not ",
                              Describe(items[i]), Suggestion(items[i].text, known)));
    }
  }
}

void CheckRate(const MapReader& limit, const std::string& key, double value, double least,
               Faults& faults) {
  if (value >= least && value <= kRateMax) return;
  faults.Add(limit.Pointer(key),
             absl::StrCat(key, " = ", value, ": must be between ", least, " and ", kRateMax));
}

TokenRule ReadToken(MapReader map, Faults& faults) {
  TokenRule rule;
  ReadIdentity(map, rule.name, rule.role, faults);
  std::string hex;
  map.Text("sha256", hex);
  const std::optional<TokenHash> hash = TokenHashFromHex(hex);
  // What was written there may be the token itself: it is not shown.
  if (hash) {
    rule.sha256 = *hash;
  } else {
    faults.Add(map.Pointer("sha256"),
               "must be the SHA-256 of the token, 64 hexadecimal digits in quotes: "
               "plimsoll-controller hash-token makes the line");
  }
  map.Finish();
  return rule;
}

bool Anonymous(const AccessConfig& access, const ListenAddress& address, Role role) {
  const bool unasked = IsLoopback(address.address) && !access.asks_for_credentials();
  return unasked || access.anonymous.contains(role);
}

}  // namespace

bool IsTokenName(const std::string& name) { return IsValidName(name) && name != kAnonymousName; }

bool IsLoopback(const std::string& address) {
  return absl::StartsWith(address, "127.") || address == "::1";
}

absl::Status CheckToken(const std::string& token) {
  if (token.size() < kTokenLengthMin) {
    return absl::InvalidArgumentError(
        absl::StrCat("a token must have at least ", kTokenLengthMin, " characters"));
  }
  const bool sendable =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (sendable) return absl::OkStatus();
  return absl::InvalidArgumentError("a token must not have spaces or letters beyond ASCII");
}

void ReadAuth(MapReader auth, const VariableLookup& variables, AccessConfig& access,
              Faults& faults) {
  auth.Text("tokens_file", access.tokens_file);
  ReadTokensOfEnvironment(auth, variables, access, faults);
  ReadIdentities(auth, access, faults);
  ReadAnonymous(auth, access, faults);
  auth.Finish();
}

void ReadTls(MapReader tls, AccessConfig& access, Faults& faults) {
  TlsOptions& options = access.tls;
  tls.Text("cert_file", options.cert_file);
  tls.Text("key_file", options.key_file);
  tls.Text("client_ca_file", options.client_ca_file);
  tls.Flag("require_client_cert", options.require_client_cert);
  tls.Word<bool>("min_version", {{"1.2", false}, {"1.3", true}}, {}, options.only_tls13);
  tls.Finish();
  if (options.cert_file.empty() != options.key_file.empty()) {
    const char* const there = options.cert_file.empty() ? "key_file" : "cert_file";
    faults.Add(tls.Pointer(there), "cert_file and key_file belong together: give both or none");
  }
  if (!options.client_ca_file.empty() && options.cert_file.empty()) {
    faults.Add(tls.Pointer("client_ca_file"),
               "needs cert_file and key_file: without them there is "
               "no encryption, and nobody shows a certificate");
  }
  if (options.require_client_cert && options.client_ca_file.empty()) {
    faults.Add(tls.Pointer("require_client_cert"),
               "needs client_ca_file: who may vouch for clients?");
  }
}

void ReadRateLimit(MapReader limit, RateLimit& target, Faults& faults) {
  limit.Number("per_second", target.per_second);
  limit.Number("burst", target.burst);
  limit.Finish();
  CheckRate(limit, "per_second", target.per_second, 0.01, faults);
  CheckRate(limit, "burst", target.burst, 1, faults);
}

void CheckAccess(const AccessConfig& access, Faults& faults) {
  if (access.certificates.empty() || !access.tls.client_ca_file.empty()) return;
  faults.Add("/auth/identities",
             "needs tls.client_ca_file: without it nobody is asked for a certificate");
}

std::string ExposureFault(const ListenAddress& address, Role role, const AccessConfig& access) {
  if (IsLoopback(address.address) || access.asks_for_credentials()) return "";
  if (access.anonymous.contains(role)) return "";
  return absl::StrCat("\"", address.address,
                      "\" is open to other machines, and nobody is asked who they are: set "
                      "auth.tokens_file (plimsoll-controller hash-token makes tokens), listen on "
                      "127.0.0.1, or add \"",
                      std::string(ToString(role)),
                      "\" to auth.allow_anonymous if only friends can reach this port");
}

AccessRules MakeAccessRules(const AccessConfig& access, const ListenAddress& api,
                            const ListenAddress& agents, std::vector<TokenRule> tokens) {
  AccessRules rules;
  rules.tokens = std::move(tokens);
  rules.certificates = access.certificates;
  if (Anonymous(access, api, Role::kViewer)) rules.api_anonymous = Role::kViewer;
  if (Anonymous(access, api, Role::kOperator)) rules.api_anonymous = Role::kOperator;
  if (Anonymous(access, agents, Role::kAgent)) rules.agents_anonymous = Role::kAgent;
  rules.metrics_require_auth = access.metrics_require_auth;
  return rules;
}

absl::StatusOr<std::vector<TokenRule>> ParseTokens(const std::string& text,
                                                   const std::string& name) {
  Faults faults;
  std::vector<TokenRule> tokens;
  const std::optional<YamlNode> root = ParseYaml(text, {"tokens: []", ""}, faults);
  if (root.has_value()) {
    MapReader top(*root, "", faults);
    const std::vector<YamlNode>& items = top.List("tokens");
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string pointer = Below("/tokens", absl::StrCat(i));
      const TokenRule rule = ReadToken(MapReader(items[i], pointer, faults), faults);
      const bool twice = rule.sha256 != TokenHash{} && HasToken(tokens, rule.sha256);
      if (twice) faults.Add(Below(pointer, "sha256"), "another entry has the same token");
      tokens.push_back(rule);
    }
    top.Finish();
  }
  if (faults.empty()) return tokens;
  return absl::InvalidArgumentError(absl::StrJoin(faults.ToLines(name), "\n"));
}

std::string TokenLine(const std::string& name, Role role, const TokenHash& hash) {
  return absl::StrCat("  - {name: ", name, ", role: ", std::string(ToString(role)), ", sha256: \"",
                      ToHex(hash), "\"}");
}

}  // namespace plimsoll
