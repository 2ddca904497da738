#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace plimsoll {

namespace internal {
class TlsContext;
}  // namespace internal

// Which files make a listener speak TLS; all are PEM.
struct TlsOptions {
  std::string cert_file;  // the server's certificate, then those between it and its root
  std::string key_file;   // without a passphrase
  // Who may vouch for clients; empty: clients are not asked for certificates.
  std::string client_ca_file;
  // Whether clients without one are turned away.
  bool require_client_cert = false;
  bool only_tls13 = false;  // otherwise TLS 1.2 will do

  bool enabled() const { return !cert_file.empty(); }
};

// What has been read of the files, ready for connections.
struct TlsMaterial {
  std::shared_ptr<internal::TlsContext> context;
  absl::Time expires;  // of the server's certificate
};

// Reads the files. Returns kInvalidArgument with the file and what is wrong with it. Never tells
// anything of a key.
absl::StatusOr<TlsMaterial> LoadTls(const TlsOptions& options);

}  // namespace plimsoll
