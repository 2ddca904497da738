#pragma once

// <utility> comes first: <boost/asio/awaitable.hpp> 1.74 uses std::exchange without including it.
#include <utility>

#include <boost/beast/core/error.hpp>
#include <boost/beast/http/message.hpp>

#include <optional>
#include <string>
#include <string_view>

#include "api/http/src/http_message.h"
#include "plimsoll/http/server.h"

namespace plimsoll::internal {

// What the head of a request says, and what is wrong with it. Pure. Thread-safe.

using RequestHead = boost::beast::http::request_header<>;

// Faults of the head that are found before the body is read.
std::optional<Problem> CheckHead(const RequestHead& head);
// All of the request but body, addresses, certificates and id.
void FillHead(const RequestHead& head, HttpRequest& request);
// X-Request-Id as the client gave it; empty if it is absent or not fit to be repeated.
std::string GivenRequestId(const RequestHead& head);

// What to tell a client whose request the parser did not take.
Problem ParserFault(const boost::beast::error_code& error, const RequestHead& head,
                    const ListenerLimits& limits);
Problem TimeFault(const ListenerLimits& limits);

// The method as a metric label. Unknown methods share one: it must not be the client's to choose.
std::string_view MethodLabel(std::string_view method);

// Sees header lines that go on in the next line. The parser joins them; others may not, and what
// two servers read differently can be smuggled past one of them.
class FoldDetector {
 public:
  // Of the head, piece by piece.
  bool Finds(std::string_view piece) {
    for (const char c : piece) {
      if (after_line_ && (c == ' ' || c == '\t')) return true;
      after_line_ = c == '\n';
    }
    return false;
  }

 private:
  bool after_line_ = false;
};

}  // namespace plimsoll::internal
