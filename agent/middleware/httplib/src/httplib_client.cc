#include "plimsoll/middleware/httplib_client.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "agent/middleware/ask.h"
#include "agent/middleware/httplib/src/retry_after.h"
#include "plimsoll/agent/call_scope.h"
#include "plimsoll/agent/deadline.h"
#include "plimsoll/middleware/httplib_server.h"

namespace plimsoll {
namespace {

using std::chrono::nanoseconds;

// The time of one call, split: connecting and reading together must not take longer than there is.
struct Times {
  Deadline deadline;
  nanoseconds connect;
  nanoseconds rest;

  Times(nanoseconds left, nanoseconds connect_max)
      : deadline(Deadline::In(left)),
        connect(std::min(connect_max, left / 4)),
        rest(left - connect) {}

  // After a failure: reading waited as long as it was allowed to. The library rounds its time-outs
  // down to milliseconds.
  bool up() const { return deadline.left() <= connect + std::chrono::milliseconds(2); }
};

void SetTimeouts(httplib::Client& client, const Times& times) {
  client.set_connection_timeout(times.connect);
  client.set_read_timeout(times.rest);
  client.set_write_timeout(times.rest);
}

// Reads the answer's body, and stops when the time is up. Lives as long as the call.
class BodyReader {
 public:
  BodyReader(const Times& times, httplib::Request& request)
      : times_(times), inner_(std::move(request.content_receiver)) {
    request.content_receiver = [this](const char* data, std::size_t size, std::uint64_t offset,
                                      std::uint64_t total) {
      cut_ = times_.deadline.passed();
      if (cut_) return false;
      if (inner_) return inner_(data, size, offset, total);
      body_.append(data, size);
      return true;
    };
  }
  bool cut() const { return cut_; }
  void MoveTo(httplib::Result& result) {
    if (result && !inner_) result.value().body = std::move(body_);
  }

 private:
  const Times& times_;
  const httplib::ContentReceiverWithProgress inner_;
  std::string body_;
  bool cut_ = false;
};

HttplibAnswer Refused(Rejection rejection) {
  HttplibAnswer answer;
  answer.rejection = rejection;
  return answer;
}

void TellRetriesLeft(const std::string& header, httplib::Request& request) {
  if (header.empty()) return;
  request.headers.erase(header);
  const std::string left = RetriesLeftText(RetryScope::Left());
  if (!left.empty()) request.set_header(header, left);
}

void TellTimeLeft(const std::string& header, nanoseconds left, httplib::Request& request) {
  if (header.empty()) return;
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(left);
  request.headers.erase(header);
  request.set_header(header, std::to_string(ms.count()));
}

}  // namespace

Outcome OutcomeOf(const httplib::Result& result, bool timed_out) {
  if (result) return OutcomeOfStatus(result->status);
  switch (result.error()) {
    case httplib::Error::ConnectionTimeout:
      return Outcome::kTimeout;
    case httplib::Error::Canceled:
      return timed_out ? Outcome::kTimeout : Outcome::kCancelled;
    case httplib::Error::BindIPAddress:
    case httplib::Error::SSLLoadingCerts:
    case httplib::Error::UnsupportedMultipartBoundaryChars:
    case httplib::Error::Compression:
      return Outcome::kIgnored;
    default:
      return timed_out ? Outcome::kTimeout : Outcome::kError;
  }
}

HttplibAnswer SendBy(Deadline deadline, httplib::Client& client, const httplib::Request& request,
                     const HttplibClientOptions& options) {
  const nanoseconds left =
      std::min({deadline.left(), Deadline::Current().left(), options.time_max});
  if (left <= nanoseconds::zero()) return Refused(Rejection::kDeadline);
  const Times times(left, options.connect_max);
  SetTimeouts(client, times);
  httplib::Request sent = request;
  TellTimeLeft(options.time_left_header, left, sent);
  TellRetriesLeft(options.retries_left_header, sent);
  BodyReader reader(times, sent);
  HttplibAnswer answer{client.send(sent)};
  const bool cancelled = answer.result.error() == httplib::Error::Canceled;
  answer.outcome = OutcomeOf(answer.result, cancelled ? reader.cut() : times.up());
  reader.MoveTo(answer.result);
  if (answer.result) {
    if (!options.retries_left_header.empty()) {
      RetryScope::Take(ParseRetriesUsed(answer.result->get_header_value(kRetriesUsedHeader)));
    }
    answer.retry_after =
        internal::ParseRetryAfter(answer.result->get_header_value("Retry-After"),
                                  answer.result->get_header_value("Date"), options.retry_after_max);
  }
  return answer;
}

HttplibAnswer Send(httplib::Client& client, Bulkhead& bulkhead, const httplib::Request& request,
                   const CallOptions& call, const HttplibClientOptions& options, CallSite site) {
  Admission admission = internal::Ask(bulkhead, call, site);
  if (!admission) return Refused(admission.rejection());
  HttplibAnswer answer =
      SendBy(std::min(call.deadline, admission->due()), client, request, options);
  admission->Finish(answer.outcome);
  return answer;
}

}  // namespace plimsoll
