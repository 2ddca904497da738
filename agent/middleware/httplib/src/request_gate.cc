#include "agent/middleware/httplib/src/request_gate.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "agent/middleware/ask.h"
#include "plimsoll/agent/call_scope.h"
#include "plimsoll/agent/deadline.h"

namespace plimsoll::internal {
namespace {

constexpr int kStatusContinue = 100;
constexpr int kStatusTooManyRequests = 429;
constexpr int kStatusUnavailable = 503;

// The request that a thread has in hand. cpp-httplib has no place for it: a request is const, and a
// response may be replaced by the handler.
struct Current {
  const httplib::Request* request = nullptr;
  bool admitted = false;
  bool close = false;         // after the answer
  bool tell_retries = false;  // the caller counts them
  std::optional<Permit> permit;
  std::optional<CallScope> scope;
};

std::optional<Current>& CurrentOfThread() {
  thread_local std::optional<Current> current;
  return current;
}

Current* Find(const httplib::Request& request) {
  auto& current = CurrentOfThread();
  return current && current->request == &request ? &*current : nullptr;
}

bool HasBody(const httplib::Request& request) {
  return request.has_header("Transfer-Encoding") ||
         (request.has_header("Content-Length") &&
          request.get_header_value("Content-Length") != "0");
}

// The server keeps the connection unless writing the answer fails. So it writes the body here, by
// a provider that fails once everything is written.
void CloseAfter(httplib::Response& response) {
  std::string body = std::move(response.body);
  response.body.clear();
  const std::string type = response.get_header_value("Content-Type");
  for (const char* name : {"Content-Type", "Content-Length", "Connection", "Keep-Alive"}) {
    response.headers.erase(name);
  }
  response.set_header("Connection", "close");
  response.set_header("Content-Length", std::to_string(body.size()));
  const std::size_t size = body.size();
  response.set_content_provider(
      size, type, [body = std::move(body)](std::size_t, std::size_t, httplib::DataSink& sink) {
        sink.write(body.data(), body.size());
        return false;
      });
}

}  // namespace

RequestGate::RequestGate(Bulkhead& bulkhead, HttplibServerOptions options)
    : bulkhead_(bulkhead),
      options_(std::move(options)),
      retry_after_(options_.retry_after_min, options_.retry_after_max) {}

int RequestGate::OnExpect(const httplib::Request& request, httplib::Response& response) {
  if (!Admit(request, response)) return response.status;
  return options_.expect_100_continue ? options_.expect_100_continue(request, response)
                                      : kStatusContinue;
}

httplib::Server::HandlerResponse RequestGate::OnPreRouting(const httplib::Request& request,
                                                           httplib::Response& response) {
  using enum httplib::Server::HandlerResponse;
  const bool asked = request.get_header_value("Expect") == "100-continue";
  const Current* current = asked ? Find(request) : nullptr;
  const bool admitted = current != nullptr ? current->admitted : Admit(request, response);
  if (!admitted) return Handled;
  return options_.pre_routing ? options_.pre_routing(request, response) : Unhandled;
}

void RequestGate::OnPostRouting(const httplib::Request& request, httplib::Response& response) {
  if (options_.post_routing) options_.post_routing(request, response);
  const Current* current = Find(request);
  if (current != nullptr && current->scope && current->tell_retries) {
    response.headers.erase(kRetriesUsedHeader);
    response.set_header(kRetriesUsedHeader, std::to_string(current->scope->retries_used()));
  }
  if (current != nullptr && current->close && !response.body.empty()) CloseAfter(response);
}

void RequestGate::OnWritten(const httplib::Request& request, const httplib::Response& response) {
  if (Current* current = Find(request); current != nullptr) {
    if (current->permit) current->permit->Finish(OutcomeOfStatus(response.status));
    CurrentOfThread().reset();
  }
  if (options_.logger) options_.logger(request, response);
}

bool RequestGate::Admit(const httplib::Request& request, httplib::Response& response) {
  Current& current = CurrentOfThread().emplace();
  current.request = &request;
  current.admitted = true;
  if (options_.exempt && options_.exempt(request)) return true;
  CallOptions call = options_.call ? Bounded(options_.call(request)) : CallOptions();
  const CallBudget said = BudgetOf(request);
  call.deadline = std::min(call.deadline, said.deadline);
  Admission admission = Ask(bulkhead_, call, CallSite::Here());
  if (!admission) {
    current.admitted = false;
    current.close = HasBody(request) || admission.rejection() == Rejection::kDraining;
    Refuse(admission.rejection(), response);
    return false;
  }
  current.permit.emplace(*std::move(admission));
  current.tell_retries = said.retries != RetryScope::kUnlimited;
  const int retries = std::min(said.retries, options_.retries_max);
  current.scope.emplace(CallBudget{std::min(call.deadline, current.permit->due()), retries});
  return true;
}

// What the caller says; it may say nothing of one or both.
CallBudget RequestGate::BudgetOf(const httplib::Request& request) const {
  const auto header = [&](const std::string& name) {
    return name.empty() ? std::string_view() : HeaderView(request, name);
  };
  CallBudget said =
      ParseCallBudget(header(options_.time_left_header), header(options_.retries_left_header));
  if (!said.deadline.never()) {
    said.deadline = std::min(said.deadline, Deadline::In(options_.time_left_max));
  }
  return said;
}

void RequestGate::Refuse(Rejection rejection, httplib::Response& response) {
  const bool tenant = rejection == Rejection::kTenant;
  response.status = tenant ? kStatusTooManyRequests : kStatusUnavailable;
  response.set_header("Retry-After", std::to_string(retry_after_.Next().count()));
  const std::string title = tenant ? "Too Many Requests" : "Service Unavailable";
  response.set_content("{\"title\":\"" + title +
                           "\",\"status\":" + std::to_string(response.status) + ",\"code\":\"" +
                           std::string(ToString(rejection)) + "\"}\n",
                       "application/problem+json");
}

}  // namespace plimsoll::internal
