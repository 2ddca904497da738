#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace plimsoll::cli {

struct RestRequest {
  std::string method = "GET";
  std::string target;  // path and query, escaped
  std::string body;    // JSON; empty: none
  std::vector<std::pair<std::string, std::string>> headers = {};
};

struct RestResponse {
  int status = 0;
  std::string body;
  std::map<std::string, std::string> headers;  // names in lower case

  std::string Header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  }
};

// One request to the controller, and its answer whatever its status. Thread-compatible.
class RestTransport {
 public:
  virtual ~RestTransport() = default;

  // Returns kUnavailable if there was no answer, kDeadlineExceeded if it took too long; the message
  // says what to do.
  virtual absl::StatusOr<RestResponse> Send(const RestRequest& request) = 0;

  // To another controller of the same fleet, with the same proofs of who asks: never without TLS if
  // this one has it. Returns errors as Connect() does.
  virtual absl::StatusOr<std::unique_ptr<RestTransport>> To(const std::string& url) const {
    return absl::UnimplementedError(url + " cannot be asked from here");
  }

  // Hands the body over as it comes, if the status is 200; it ends when the peer closes or
  // `on_bytes` says false. A body with another status comes in the answer.
  virtual absl::StatusOr<RestResponse> Stream(
      const RestRequest& request, const std::function<bool(std::string_view)>& on_bytes) = 0;
};

// Whom to talk to, and as whom.
struct Connection {
  std::string url;
  std::string token;                                // empty: none
  std::string ca_file, certificate_file, key_file;  // empty: the system's, none, none
  absl::Duration timeout = absl::Seconds(10);
  std::string version;  // of this program, to tell the controller
};

// Over HTTP/1.1, with TLS if the URL begins with https. Returns kInvalidArgument for a URL that is
// none, and for files that are not there.
absl::StatusOr<std::unique_ptr<RestTransport>> Connect(const Connection& connection);

}  // namespace plimsoll::cli
