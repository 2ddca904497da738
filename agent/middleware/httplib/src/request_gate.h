#pragma once

#include <httplib.h>

#include <chrono>

#include "agent/middleware/even_spread.h"
#include "plimsoll/agent/bulkhead.h"
#include "plimsoll/agent/call_scope.h"
#include "plimsoll/agent/permit.h"
#include "plimsoll/middleware/httplib_server.h"

namespace plimsoll::internal {

// What the hooks of a server do with a request, in the order in which it calls them. Thread-safe;
// all hooks of one request are called in one thread, one request after the other.
class RequestGate {
 public:
  RequestGate(Bulkhead& bulkhead, HttplibServerOptions options);

  // The head has been read, and the caller asks whether it shall send the body. The status of the
  // answer.
  int OnExpect(const httplib::Request& request, httplib::Response& response);
  // The head has been read.
  httplib::Server::HandlerResponse OnPreRouting(const httplib::Request& request,
                                                httplib::Response& response);
  // The answer is complete, but for its body if that is streamed.
  void OnPostRouting(const httplib::Request& request, httplib::Response& response);
  // The answer has been written, or the connection is broken.
  void OnWritten(const httplib::Request& request, const httplib::Response& response);

 private:
  // Takes the permit or writes the refusal.
  bool Admit(const httplib::Request& request, httplib::Response& response);
  CallBudget BudgetOf(const httplib::Request& request) const;
  void Refuse(Rejection rejection, httplib::Response& response);

  Bulkhead& bulkhead_;
  const HttplibServerOptions options_;
  EvenSpread<std::chrono::seconds> retry_after_;
};

}  // namespace plimsoll::internal
