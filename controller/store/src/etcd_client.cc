#include "plimsoll/store/etcd_client.h"

#include <httplib.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/store/src/etcd_json.h"

namespace plimsoll {
namespace {

constexpr int kHttpOk = 200;
constexpr absl::Duration kShortest = absl::Milliseconds(50);

bool IsEndpoint(const std::string& text) {
  const std::size_t scheme = absl::StartsWith(text, "http://")    ? 7
                             : absl::StartsWith(text, "https://") ? 8
                                                                  : std::string::npos;
  if (scheme == std::string::npos || text.size() == scheme) return false;
  return text.find_first_of("/ \t\n?#", scheme) == std::string::npos;
}

// Adds where and what to an error.
absl::Status At(const absl::Status& why, const std::string& endpoint, const std::string& path) {
  return {why.code(),
          absl::StrCat("etcd at ", endpoint, ", ", path, ": ", std::string(why.message()))};
}

std::string Explain(httplib::Error error) {
  const std::string text = httplib::to_string(error);
  const bool trust = error == httplib::Error::SSLServerVerification ||
                     error == httplib::Error::SSLLoadingCerts ||
                     error == httplib::Error::SSLConnection;
  return trust ? absl::StrCat(text, " (see state.etcd.ca_file, cert_file and key_file)") : text;
}

class EtcdClient final : public Etcd {
 public:
  EtcdClient(const EtcdAccess& access, absl::Duration call_time_max, const Clock& clock);

  absl::StatusOr<EtcdTxnResult> Txn(const EtcdTxn& txn) override {
    const absl::StatusOr<std::string> body = Ask("/v3/kv/txn", internal::ToEtcdJson(txn));
    if (!body.ok()) return body.status();
    return internal::ReadTxnResult(*body);
  }
  absl::StatusOr<EtcdRangeResult> Range(const EtcdRange& range) override {
    const absl::StatusOr<std::string> body = Ask("/v3/kv/range", internal::ToEtcdJson(range));
    if (!body.ok()) return body.status();
    return internal::ReadRangeResult(*body);
  }
  absl::StatusOr<std::int64_t> Grant(absl::Duration ttl) override {
    const absl::StatusOr<std::string> body = Ask("/v3/lease/grant", internal::GrantJson(ttl));
    if (!body.ok()) return body.status();
    return internal::ReadGrant(*body);
  }
  absl::StatusOr<absl::Duration> KeepAlive(std::int64_t lease) override {
    const absl::StatusOr<std::string> body = Ask("/v3/lease/keepalive", internal::LeaseJson(lease));
    if (!body.ok()) return body.status();
    const absl::StatusOr<absl::Duration> left = internal::ReadKeepAlive(*body);
    if (left.ok() && *left <= absl::ZeroDuration()) {
      return absl::NotFoundError("the lease has ended");
    }
    return left;
  }
  absl::Status Revoke(std::int64_t lease) override {
    return Ask("/v3/lease/revoke", internal::LeaseJson(lease)).status();
  }

 private:
  struct Peer {
    std::string endpoint;
    std::unique_ptr<httplib::Client> client;
  };

  absl::StatusOr<std::string> Ask(const std::string& path, const std::string& body);
  absl::StatusOr<std::string> AskOne(Peer& peer, const std::string& path, const std::string& body,
                                     Instant deadline);
  absl::StatusOr<std::string> Send(Peer& peer, const std::string& path, const std::string& body,
                                   Instant deadline);
  absl::Status Authenticate(Peer& peer, Instant deadline);

  const absl::Duration call_time_max_;
  const Clock& clock_;
  const std::string user_;
  const std::string password_;
  std::vector<Peer> peers_;
  std::size_t current_ = 0;
  std::string token_;
};

EtcdClient::EtcdClient(const EtcdAccess& access, absl::Duration call_time_max, const Clock& clock)
    : call_time_max_(call_time_max), clock_(clock), user_(access.user), password_(access.password) {
  for (const std::string& endpoint : access.endpoints) {
    auto client = access.cert_file.empty() ? std::make_unique<httplib::Client>(endpoint)
                                           : std::make_unique<httplib::Client>(
                                                 endpoint, access.cert_file, access.key_file);
    client->set_keep_alive(true);
    client->set_tcp_nodelay(true);
    client->set_follow_location(false);
    if (!access.ca_file.empty()) client->set_ca_cert_path(access.ca_file);
    peers_.push_back({endpoint, std::move(client)});
  }
}

// A refusal counts only if nothing that was sent before may have been done.
absl::StatusOr<std::string> EtcdClient::Ask(const std::string& path, const std::string& body) {
  const Instant deadline = clock_.Now() + call_time_max_;
  const std::size_t attempts = std::max<std::size_t>(2, peers_.size());
  std::vector<std::string> failures;
  for (std::size_t i = 0; i < attempts; ++i) {
    if (i > 0 && deadline - clock_.Now() < kShortest) break;
    Peer& peer = peers_[current_];
    absl::StatusOr<std::string> answer = AskOne(peer, path, body, deadline);
    if (answer.ok()) return answer;
    const absl::Status failure = At(answer.status(), peer.endpoint, path);
    if (!absl::IsUnavailable(failure) && failures.empty()) return failure;
    failures.push_back(std::string(failure.message()));
    current_ = (current_ + 1) % peers_.size();
  }
  return absl::UnavailableError(
      absl::StrCat(absl::StrJoin(failures, "; "),
                   "; see that etcd runs there and has a quorum, and state.etcd.endpoints"));
}

absl::StatusOr<std::string> EtcdClient::AskOne(Peer& peer, const std::string& path,
                                               const std::string& body, Instant deadline) {
  if (!user_.empty() && token_.empty()) {
    if (absl::Status known = Authenticate(peer, deadline); !known.ok()) return known;
  }
  absl::StatusOr<std::string> answer = Send(peer, path, body, deadline);
  if (user_.empty() || !absl::IsUnauthenticated(answer.status())) return answer;
  // Tokens end after some minutes.
  if (absl::Status known = Authenticate(peer, deadline); !known.ok()) return known;
  return Send(peer, path, body, deadline);
}

absl::Status EtcdClient::Authenticate(Peer& peer, Instant deadline) {
  token_.clear();
  const absl::StatusOr<std::string> body =
      Send(peer, "/v3/auth/authenticate", internal::AuthenticateJson(user_, password_), deadline);
  if (absl::IsUnavailable(body.status())) return body.status();
  if (!body.ok()) {
    return {
        body.status().code(),
        absl::StrCat("the user ", user_, " is not let in: ", std::string(body.status().message()),
                     "; see state.etcd.user and state.etcd.password_file")};
  }
  absl::StatusOr<std::string> token = internal::ReadToken(*body);
  if (!token.ok()) return token.status();
  token_ = *std::move(token);
  return absl::OkStatus();
}

// An endpoint that is silent must leave time for the next.
absl::StatusOr<std::string> EtcdClient::Send(Peer& peer, const std::string& path,
                                             const std::string& body, Instant deadline) {
  const absl::Duration left = std::max(kShortest, deadline - clock_.Now());
  const absl::Duration share = std::min(left, std::max(kShortest, call_time_max_ / 2));
  httplib::Client& client = *peer.client;
  client.set_connection_timeout(absl::ToChronoMicroseconds(share));
  client.set_read_timeout(absl::ToChronoMicroseconds(share));
  client.set_write_timeout(absl::ToChronoMicroseconds(share));
  httplib::Headers headers;
  if (!token_.empty()) headers.emplace("Authorization", token_);
  try {
    const httplib::Result result = client.Post(path.c_str(), headers, body, "application/json");
    if (!result) return absl::UnavailableError(Explain(result.error()));
    if (result->status == kHttpOk) return result->body;
    return internal::ReadEtcdError(result->status, result->body);
  } catch (const std::exception& error) {
    return absl::UnavailableError(error.what());
  }
}

}  // namespace

absl::Status Validate(const EtcdAccess& access) {
  std::vector<std::string> faults;
  if (access.endpoints.empty()) {
    faults.push_back("endpoints is empty: give at least one, such as http://10.0.0.1:2379");
  }
  for (const std::string& endpoint : access.endpoints) {
    if (IsEndpoint(endpoint)) continue;
    faults.push_back(absl::StrCat("endpoints = \"", endpoint,
                                  "\": must be http://host:port or https://host:port"));
  }
  if (access.cert_file.empty() != access.key_file.empty()) {
    faults.push_back("cert_file and key_file belong together: give both, or neither");
  }
  if (access.user.empty() != access.password.empty()) {
    faults.push_back("user and password_file belong together: give both, or neither");
  }
  if (faults.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(faults, "\n"));
}

std::unique_ptr<Etcd> MakeEtcdClient(const EtcdAccess& access, absl::Duration call_time_max,
                                     const Clock& clock) {
  return std::make_unique<EtcdClient>(access, call_time_max, clock);
}

}  // namespace plimsoll
