#include "api/cli/src/rest_transport.h"

#include <httplib.h>
#include <openssl/x509_vfy.h>

#include <cstdio>
#include <exception>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controller/config/faults.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::cli {
namespace {

constexpr int kStatusOk = 200;
// A stream sends a comment at least every 15 s.
constexpr absl::Duration kSilenceMax = absl::Seconds(40);

// Why the certificate of the controller is not accepted, and what to do. `verified` is OpenSSL's
// result.
std::string CertificateFault(int verified) {
  const std::string told = X509_verify_cert_error_string(verified);
  switch (verified) {
    case X509_V_OK:
      return "its certificate is for another host: name it in PLIMSOLL_ADDR or --addr as its "
             "certificate does";
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return absl::StrCat("its certificate is out of date (", told,
                          "): renew it, then kill -HUP the controller; or set the clock here");
    default:
      return absl::StrCat("its certificate is not trusted (", told,
                          "): name who vouches for it with PLIMSOLL_CACERT or --cacert");
  }
}

// The connection ended before there was an answer.
std::string CutOff(const std::string& url) {
  if (!absl::StartsWith(url, "https://")) {
    return "closed the connection without an answer: if it wants TLS, the address begins with "
           "https://";
  }
  return "closed the connection without an answer: if it wants a client certificate, name one "
         "with --client-cert and --client-key";
}

std::string Unreachable(const std::string& url, httplib::Error error, int verified) {
  switch (error) {
    case httplib::Error::SSLServerVerification:
      return CertificateFault(verified);
    case httplib::Error::SSLLoadingCerts:
      return "is not asked: the file of PLIMSOLL_CACERT or --cacert holds no certificate";
    case httplib::Error::SSLConnection:
      return "does not agree on TLS: if it does not use TLS, the address begins with http://; if "
             "it wants a client certificate, name one with --client-cert and --client-key";
    case httplib::Error::Read:
    case httplib::Error::Write:
      return CutOff(url);
    default:
      return absl::StrCat("cannot be reached (", httplib::to_string(error),
                          "): is the controller running, and is PLIMSOLL_ADDR its address?");
  }
}

absl::Status NoAnswer(const std::string& url, httplib::Error error, int verified,
                      absl::Duration waited, absl::Duration timeout) {
  const bool late = error == httplib::Error::Read && waited >= timeout;
  if (late || error == httplib::Error::ConnectionTimeout) {
    return absl::DeadlineExceededError(
        absl::StrCat(url, " did not answer within ", absl::FormatDuration(timeout),
                     ": look at the controller's log, or allow more with --timeout"));
  }
  return absl::UnavailableError(absl::StrCat(url, " ", Unreachable(url, error, verified)));
}

RestResponse ToResponse(const httplib::Response& response) {
  RestResponse answer{response.status, response.body, {}};
  for (const auto& [name, value] : response.headers) {
    answer.headers[absl::AsciiStrToLower(name)] = value;
  }
  return answer;
}

class HttplibTransport final : public RestTransport {
 public:
  explicit HttplibTransport(const Connection& connection)
      : connection_(connection),
        client_(connection.url, connection.certificate_file, connection.key_file) {
    client_.set_connection_timeout(absl::ToChronoMicroseconds(connection.timeout));
    client_.set_read_timeout(absl::ToChronoMicroseconds(connection.timeout));
    client_.set_write_timeout(absl::ToChronoMicroseconds(connection.timeout));
    client_.set_keep_alive(true);
    client_.set_tcp_nodelay(true);
    client_.set_decompress(false);
    // Answers of a change that another controller has to make lead there.
    client_.set_follow_location(true);
    if (!connection.ca_file.empty()) client_.set_ca_cert_path(connection.ca_file.c_str());
    client_.enable_server_certificate_verification(true);
  }

  bool valid() const { return client_.is_valid(); }

  absl::StatusOr<RestResponse> Send(const RestRequest& request) override {
    httplib::Request message = Message(request);
    return Exchange(message, connection_.timeout);
  }

  absl::StatusOr<std::unique_ptr<RestTransport>> To(const std::string& url) const override {
    if (absl::StartsWith(connection_.url, "https://") && !absl::StartsWith(url, "https://")) {
      return absl::InvalidArgumentError(url + " is not asked: it does not use TLS");
    }
    Connection other = connection_;
    other.url = url;
    return Connect(other);
  }

  absl::StatusOr<RestResponse> Stream(
      const RestRequest& request, const std::function<bool(std::string_view)>& on_bytes) override {
    client_.set_read_timeout(absl::ToChronoMicroseconds(kSilenceMax));
    httplib::Request message = Message(request);
    int status = 0;
    std::string body;
    bool enough = false;
    message.response_handler = [&status](const httplib::Response& response) {
      status = response.status;
      return true;
    };
    message.content_receiver = [&](const char* data, std::size_t size, std::uint64_t /*offset*/,
                                   std::uint64_t /*total*/) {
      if (status != kStatusOk) {
        body.append(data, size);
        return true;
      }
      enough = !on_bytes({data, size});
      return !enough;
    };
    absl::StatusOr<RestResponse> answer = Exchange(message, kSilenceMax);
    client_.set_read_timeout(absl::ToChronoMicroseconds(connection_.timeout));
    if (!answer.ok() && status == kStatusOk) return RestResponse{status, "", {}};
    if (answer.ok()) answer->body = body;
    return answer;
  }

 private:
  httplib::Request Message(const RestRequest& request) const {
    httplib::Request message;
    message.method = request.method;
    message.path = request.target;
    message.body = request.body;
    message.set_header("Accept", "application/json, application/problem+json, text/event-stream");
    message.set_header("Accept-Encoding", "identity");
    message.set_header("User-Agent", "plimsoll/" + connection_.version);
    if (!request.body.empty()) message.set_header("Content-Type", "application/json");
    if (!connection_.token.empty()) {
      message.set_header("Authorization", "Bearer " + connection_.token);
    }
    for (const auto& [name, value] : request.headers) message.set_header(name.c_str(), value);
    return message;
  }

  absl::StatusOr<RestResponse> Exchange(httplib::Request& message, absl::Duration timeout) {
    try {
      httplib::Response response;
      httplib::Error error = httplib::Error::Success;
      const Instant start = RealClock().Now();
      if (!client_.send(message, response, error)) {
        return NoAnswer(connection_.url, error,
                        static_cast<int>(client_.get_openssl_verify_result()),
                        RealClock().Now() - start, timeout);
      }
      return ToResponse(response);
    } catch (const std::exception& error) {
      return absl::UnavailableError(
          absl::StrCat(connection_.url, " cannot be talked to: ", error.what()));
    }
  }

  const Connection connection_;
  httplib::Client client_;
};

absl::Status CheckFile(const char* what, const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file != nullptr) {
    std::fclose(file);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(what, " ", Quoted(path), " cannot be read"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<RestTransport>> Connect(const Connection& connection) {
  const bool known =
      absl::StartsWith(connection.url, "http://") || absl::StartsWith(connection.url, "https://");
  if (!known || connection.url.find_first_of(" \t\r\n") != std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("the address must be a URL such as http://127.0.0.1:7480, not ",
                     Quoted(connection.url), ": see PLIMSOLL_ADDR and --addr"));
  }
  if (connection.token.find_first_of("\r\n") != std::string::npos) {
    return absl::InvalidArgumentError("the token must be one line");
  }
  for (const auto& [what, path] : {std::pair("PLIMSOLL_CACERT", connection.ca_file),
                                   std::pair("PLIMSOLL_CLIENT_CERT", connection.certificate_file),
                                   std::pair("PLIMSOLL_CLIENT_KEY", connection.key_file)}) {
    const absl::Status status = CheckFile(what, path);
    if (!status.ok()) return status;
  }
  try {
    auto transport = std::make_unique<HttplibTransport>(connection);
    if (transport->valid()) return transport;
  } catch (const std::exception&) {
    // The library throws at URLs that it cannot take apart.
  }
  return absl::InvalidArgumentError(
      absl::StrCat(Quoted(connection.url),
                   " cannot be used: is it a URL, and do certificate and key fit together?"));
}

}  // namespace plimsoll::cli
