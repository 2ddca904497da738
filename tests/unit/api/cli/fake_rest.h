#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/cli/src/context.h"
#include "api/cli/src/rest_transport.h"
#include "tests/unit/agent/manual_clock.h"

namespace plimsoll::cli {

// A controller without a network: answers are handed in. Thread-compatible.
class FakeRest {
 public:
  // By method and target, "GET /v1/status". The last answer is repeated. What is not there is 404.
  void Answer(const std::string& what, int status, const std::string& body,
              std::map<std::string, std::string> headers = {});
  // The next stream brings these pieces, and ends.
  void Stream(std::vector<std::string> pieces) { streams_.push_back(std::move(pieces)); }
  // From now on nobody is there.
  void GoAway() { away_ = true; }

  const std::vector<RestRequest>& requests() const { return requests_; }
  // "PUT /v1/… BODY" of the last one.
  std::string last() const;

  absl::StatusOr<RestResponse> Respond(const RestRequest& request);
  absl::StatusOr<RestResponse> Respond(const RestRequest& request,
                                       const std::function<bool(std::string_view)>& on_bytes);

 private:
  std::map<std::string, std::vector<RestResponse>> answers_;
  std::vector<std::vector<std::string>> streams_;
  std::vector<RestRequest> requests_;
  bool away_ = false;
};

// Runs the program with a fake controller, and keeps what it said. Thread-compatible.
class FakeTerminal {
 public:
  FakeTerminal();

  // The exit status.
  int Run(const std::vector<std::string>& arguments);

  FakeRest rest;
  std::string out;
  std::string error;
  std::map<std::string, std::string> environment;
  std::map<std::string, std::string> files;
  std::string typed;  // what somebody answers
  bool out_is_terminal = false;
  TerminalSize size;
  bool in_is_terminal = false;
  Connection connection;  // the last one
  ManualClock clock;      // 2026-11-29T17:20:23Z
  int pauses = 0;
};

// The file of this folder; with PLIMSOLL_UPDATE_GOLDEN set, `actual` becomes it.
std::string Golden(const std::string& name, const std::string& actual);

}  // namespace plimsoll::cli
