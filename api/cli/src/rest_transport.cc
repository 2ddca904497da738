#include "api/cli/src/rest_transport.h"

#include <httplib.h>

#include <cstdio>
#include <exception>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controller/config/faults.h"

namespace plimsoll::cli {
namespace {

constexpr int kStatusOk = 200;
// A stream sends a comment at least every 15 s.
constexpr absl::Duration kSilenceMax = absl::Seconds(40);

absl::Status NoAnswer(const std::string& url, httplib::Error error, absl::Duration timeout) {
  if (error == httplib::Error::Read) {
    return absl::DeadlineExceededError(
        absl::StrCat(url, " did not answer within ", absl::FormatDuration(timeout),
                     ": look at the controller's log, or allow more with --timeout"));
  }
  const bool tls = error == httplib::Error::SSLConnection ||
                   error == httplib::Error::SSLLoadingCerts ||
                   error == httplib::Error::SSLServerVerification;
  return absl::UnavailableError(
      absl::StrCat(url, " cannot be reached (", httplib::to_string(error), "): ",
                   tls ? "does PLIMSOLL_CACERT name who vouches for its certificate?"
                       : "is the controller running, and is PLIMSOLL_ADDR its address?"));
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
      if (!client_.send(message, response, error)) {
        return NoAnswer(connection_.url, error, timeout);
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
