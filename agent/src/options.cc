#include "plimsoll/agent/options.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "agent/src/address.h"
#include "plimsoll/core/types.h"
#include "plimsoll/core/violations.h"

namespace plimsoll {
namespace internal {
namespace {

constexpr char kPlain[] = "http://";
constexpr char kTls[] = "https://";
constexpr int kPortMax = 65535;

bool IsHostCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '-' || c == '_';
}
bool IsAddressCharacter(char c) { return IsHostCharacter(c) || c == ':'; }

// The host without brackets; empty if it is not one.
std::string ParseHost(const std::string& text) {
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
    const std::string inner = text.substr(1, text.size() - 2);
    return std::all_of(inner.begin(), inner.end(), IsAddressCharacter) ? inner : "";
  }
  return std::all_of(text.begin(), text.end(), IsHostCharacter) ? text : "";
}

}  // namespace

std::optional<Address> ParseAddress(const std::string& text) {
  Address address;
  address.tls = text.rfind(kTls, 0) == 0;
  if (!address.tls && text.rfind(kPlain, 0) != 0) return std::nullopt;
  const std::string rest = text.substr(address.tls ? sizeof(kTls) - 1 : sizeof(kPlain) - 1);
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string::npos) return std::nullopt;

  address.host = ParseHost(rest.substr(0, colon));
  const std::string port = rest.substr(colon + 1);
  const bool digits = std::all_of(port.begin(), port.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
  if (address.host.empty() || !digits || !absl::SimpleAtoi(port, &address.port) ||
      address.port < 1 || address.port > kPortMax) {
    return std::nullopt;
  }
  return address;
}

}  // namespace internal

namespace {

constexpr std::size_t kZoneLengthMax = 63;
constexpr char kNameRule[] =
    "1 to 63 letters, digits, '.', '_', '~', '-' that begins and ends with a letter or digit";

std::string Quoted(const std::string& text) { return absl::StrCat("'", text, "'"); }

void CheckControllers(const AgentOptions& options, Violations& violations) {
  if (options.controllers.empty()) {
    violations.Add(
        "controllers is empty: give at least one address, http://host:port or https://host:port");
  }
  for (std::size_t i = 0; i < options.controllers.size(); ++i) {
    violations.Require(internal::ParseAddress(options.controllers[i]).has_value(),
                       absl::StrCat("controllers[", i, "]"), Quoted(options.controllers[i]),
                       "must be http://host:port or https://host:port, port 1 to 65535");
  }
}

void CheckName(const std::string& name, const std::string& value, Violations& violations) {
  violations.Require(IsValidName(value), name, Quoted(value), absl::StrCat("must be ", kNameRule));
}

void CheckPositive(const std::string& name, std::chrono::milliseconds value,
                   Violations& violations) {
  violations.Require(value.count() > 0, name, value, "must be positive");
}

// The token goes into a header as it is, and must not be shown.
void CheckToken(const std::string& token, Violations& violations) {
  const bool fits =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!fits) violations.Add("token has characters that no token has: spaces or line ends");
}

void CheckTls(const AgentOptions& options, Violations& violations) {
  if (options.client_cert_file.empty() != options.client_key_file.empty()) {
    violations.Add("client_cert_file and client_key_file belong together: give both or none");
  }
  const bool any = !options.ca_file.empty() || !options.client_cert_file.empty();
  for (std::size_t i = 0; any && i < options.controllers.size(); ++i) {
    const std::optional<internal::Address> address = internal::ParseAddress(options.controllers[i]);
    if (!address.has_value() || address->tls) continue;
    violations.Add(absl::StrCat("controllers[", i, "] is '", options.controllers[i],
                                "', without encryption, but certificates are given: must "
                                "begin with https://"));
  }
}

}  // namespace

absl::Status Validate(const AgentOptions& options) {
  Violations violations(Violations::Form::kWords);
  CheckControllers(options, violations);
  CheckToken(options.token, violations);
  CheckTls(options, violations);
  CheckName("service", options.service, violations);
  if (!options.instance.empty()) CheckName("instance", options.instance, violations);
  if (options.zone.size() > kZoneLengthMax) {
    violations.Add(absl::StrCat("zone has ", options.zone.size(), " characters: at most ",
                                kZoneLengthMax, " are allowed"));
  }
  CheckPositive("connect_timeout", options.connect_timeout, violations);
  CheckPositive("answer_timeout", options.answer_timeout, violations);
  violations.Require(options.release_timeout.count() >= 0, "release_timeout",
                     options.release_timeout, "must not be negative");
  return violations.ToStatus("agent options");
}

}  // namespace plimsoll
