#include "api/http/src/tls_context.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <array>
#include <ctime>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "plimsoll/http/tls.h"

namespace plimsoll {
namespace internal {
namespace {

std::string Text(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::string AddressText(const ASN1_OCTET_STRING* address) {
  const int family = ASN1_STRING_length(address) == sizeof(in_addr) ? AF_INET : AF_INET6;
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool sized = family == AF_INET || ASN1_STRING_length(address) == sizeof(in6_addr);
  if (!sized ||
      inet_ntop(family, ASN1_STRING_get0_data(address), text.data(), text.size()) == nullptr) {
    return "";
  }
  return text.data();
}

// Empty for kinds of names that no rule can have.
std::string NameKey(const GENERAL_NAME& name) {
  switch (name.type) {
    case GEN_DNS:
      return absl::StrCat("DNS:", absl::AsciiStrToLower(Text(name.d.dNSName)));
    case GEN_URI:
      return absl::StrCat("URI:", Text(name.d.uniformResourceIdentifier));
    case GEN_EMAIL:
      return absl::StrCat("email:", Text(name.d.rfc822Name));
    case GEN_IPADD:
      return absl::StrCat("IP:", AddressText(name.d.iPAddress));
    default:
      return "";
  }
}

}  // namespace

std::vector<std::string> ClientNames(SSL* connection) {
  std::vector<std::string> names;
  X509* const certificate = SSL_get0_peer_certificate(connection);
  if (certificate == nullptr || SSL_get_verify_result(connection) != X509_V_OK) return names;
  auto* const found = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(found); ++i) {
    std::string key = NameKey(*sk_GENERAL_NAME_value(found, i));
    if (!key.empty()) names.push_back(std::move(key));
  }
  GENERAL_NAMES_free(found);
  return names;
}

}  // namespace internal

namespace {

namespace ssl = boost::asio::ssl;

absl::Status Fault(const std::string& file, const std::string& what) {
  std::array<char, 256> reason{};
  ERR_error_string_n(ERR_peek_last_error(), reason.data(), reason.size());
  const bool known = ERR_peek_last_error() != 0;
  ERR_clear_error();
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": ", what, known ? absl::StrCat(" (", reason.data(), ")") : ""));
}

// Nobody is there who could be asked for a passphrase.
int NoPassphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) { return 0; }

absl::Status UseCertificate(SSL_CTX* context, const TlsOptions& options) {
  if (SSL_CTX_use_certificate_chain_file(context, options.cert_file.c_str()) != 1) {
    return Fault(options.cert_file, "cannot be read as PEM certificates");
  }
  SSL_CTX_set_default_passwd_cb(context, NoPassphrase);
  if (SSL_CTX_use_PrivateKey_file(context, options.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    const bool mismatch = ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH;
    return Fault(options.key_file, mismatch ? absl::StrCat("is not the key of ", options.cert_file)
                                            : "cannot be read as a PEM key without a passphrase");
  }
  return absl::OkStatus();
}

absl::Status AskClients(SSL_CTX* context, const TlsOptions& options) {
  const std::string& file = options.client_ca_file;
  if (file.empty()) return absl::OkStatus();
  STACK_OF(X509_NAME)* const names = SSL_load_client_CA_file(file.c_str());
  if (names == nullptr || SSL_CTX_load_verify_locations(context, file.c_str(), nullptr) != 1) {
    sk_X509_NAME_pop_free(names, X509_NAME_free);
    return Fault(file, "cannot be read as PEM certificates");
  }
  SSL_CTX_set_client_CA_list(context, names);
  SSL_CTX_set_verify(context,
                     options.require_client_cert ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
                                                 : SSL_VERIFY_PEER,
                     nullptr);
  return absl::OkStatus();
}

absl::Time Expiry(SSL_CTX* context) {
  std::tm time{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(SSL_CTX_get0_certificate(context)), &time) != 1) {
    return absl::InfinitePast();
  }
  return absl::FromTM(time, absl::UTCTimeZone());
}

// Sessions are not resumed: a resumed one would outlive the certificates it was made with, and
// connections here live long.
void SetUp(SSL_CTX* context, const TlsOptions& options) {
  SSL_CTX_set_min_proto_version(context, options.only_tls13 ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

}  // namespace

absl::StatusOr<TlsMaterial> LoadTls(const TlsOptions& options) {
  ERR_clear_error();
  ssl::context context(ssl::context::tls_server);
  SSL_CTX* const native = context.native_handle();
  SetUp(native, options);
  absl::Status status = UseCertificate(native, options);
  if (status.ok()) status = AskClients(native, options);
  if (!status.ok()) return status;
  const absl::Time expires = Expiry(native);
  return TlsMaterial{std::make_shared<internal::TlsContext>(std::move(context)), expires};
}

}  // namespace plimsoll
