#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/http/src/body_stream.h"
#include "plimsoll/http/role.h"
#include "plimsoll/wire/codec.h"

namespace plimsoll::internal {

// Who asks. Not the wire's Identity, which is what an agent says of itself.
inline constexpr const char* kAnonymous = "anonymous";
struct Identity {
  std::string name = kAnonymous;
  Role role = Role::kNone;
};

// A request that arrived whole and within the limits of its listener.
struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // as sent, without the query
  std::string query;   // as sent, without the question mark
  std::string host;    // as sent; empty if absent
  std::string origin;
  std::string preflight_method;  // what the page that a browser asks for wants to do
  std::string accept;            // empty if absent
  std::string content_type;
  std::string if_none_match;
  std::string last_event_id;
  std::string if_match;
  bool has_length = false;  // Content-Length was there
  std::string body;
  std::string request_id;      // the caller's, or one of ours
  std::string local_address;   // that the caller reached us by, without port
  std::string remote_address;  // of the caller, without port
  // What the caller shows to prove who it is. The header is taken out before anything is handled.
  std::string authorization;
  std::vector<std::string> certificate_names;  // as SanKey() has them
  Identity identity;                           // who the caller has proved to be
  std::string credentials_fault;               // why what was shown proves nothing
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpResponse {
  int status = 200;
  std::string_view content_type = "application/json";  // of static storage; none if empty
  std::string body;
  std::string cache_control = "no-store";
  HttpHeaders headers;
  // Instead of content type and body; the connection adds what it is about.
  std::optional<Problem> problem;
  // Instead of a body: what goes on until it is ended. The connection is closed after it.
  std::shared_ptr<BodyStream> stream;
};

// Whether an answer of this status may have a body.
constexpr bool HasBody(int status) { return status >= 200 && status != 204 && status != 304; }

HttpResponse ProblemResponse(Problem problem);
HttpResponse ProblemResponse(int status, std::string code, std::string detail);
// For a caller whose role does not include `needed`: 401 if nobody knows who it is, else 403.
HttpResponse AccessRefusal(const HttpRequest& request, Role needed);
// The one place where a problem becomes a body.
void RenderProblem(const HttpRequest& request, HttpResponse& response);

// One request under way: the promise of an answer. Shared by the connection, which waits, and the
// handler, which answers when it can. Confined to the listener's thread.
class Exchange {
 public:
  // Answers; only the first answer counts.
  void Reply(HttpResponse response) {
    if (response_) return;
    response_ = std::move(response);
    if (wake_) wake_();
  }

  // What the answer says beside its own headers, whoever gives it.
  void AddHeaders(HttpHeaders headers) { headers_ = std::move(headers); }

  // For handlers that hold an answer back: `gone` is called once if the peer goes away before the
  // answer. It marks the exchange as held, so that the wait is not taken for work.
  void Hold(std::function<void()> gone) { gone_ = std::move(gone); }

  // The connection's side.
  bool held() const { return gone_ != nullptr; }
  bool replied() const { return response_.has_value(); }
  HttpResponse TakeResponse() {
    HttpResponse response = *std::move(response_);
    response.headers.insert(response.headers.end(), headers_.begin(), headers_.end());
    return response;
  }
  void OnReply(std::function<void()> wake) { wake_ = std::move(wake); }
  // Nobody waits any more.
  void Abandon() {
    wake_ = nullptr;
    if (!response_ && gone_) std::exchange(gone_, nullptr)();
  }

 private:
  std::optional<HttpResponse> response_;
  HttpHeaders headers_;
  std::function<void()> wake_;
  std::function<void()> gone_;
};
using ExchangePtr = std::shared_ptr<Exchange>;

// What a listener serves.
class HttpService {
 public:
  virtual ~HttpService() = default;

  // Answers at once or later, on the listener's thread. Returns the label by which the request is
  // counted: the template of its route, of static storage. May throw; that becomes a 500.
  virtual const char* Handle(const HttpRequest& request, const ExchangePtr& exchange) = 0;
};

// The label of requests that no route matches, or that were refused before routing.
inline constexpr const char* kNoRoute = "none";

}  // namespace plimsoll::internal
