#include "api/http/src/request_head.h"

#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace plimsoll::internal {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::size_t kRequestIdBytesMax = 128;

std::string ToStdString(beast::string_view text) { return {text.data(), text.size()}; }

Problem MakeProblem(int status, std::string code, std::string detail) {
  Problem problem;
  problem.status = status;
  problem.code = std::move(code);
  problem.detail = std::move(detail);
  return problem;
}

// "http://host/path", which proxies send, means "/path".
std::string_view OriginForm(std::string_view target) {
  const std::size_t scheme = target.starts_with('/') ? std::string_view::npos : target.find("://");
  if (scheme == std::string_view::npos) return target;
  const std::size_t path = target.find('/', scheme + 3);
  return path == std::string_view::npos ? "/" : target.substr(path);
}

// "host" of "http://host/path"; empty without one.
std::string_view Authority(std::string_view target) {
  const std::size_t scheme = target.starts_with('/') ? std::string_view::npos : target.find("://");
  if (scheme == std::string_view::npos) return "";
  const std::string_view rest = target.substr(scheme + 3);
  return rest.substr(0, rest.find_first_of("/?"));
}

// Where a header goes of which the first counts. Null for all others.
std::string* PlaceOf(const RequestHead::value_type& header, HttpRequest& request) {
  switch (header.name()) {
    case http::field::host:
      return &request.host;
    case http::field::origin:
      return &request.origin;
    case http::field::access_control_request_method:
      return &request.preflight_method;
    case http::field::content_type:
      return &request.content_type;
    case http::field::if_none_match:
      return &request.if_none_match;
    case http::field::authorization:
      return &request.authorization;
    case http::field::if_match:
      return &request.if_match;
    case http::field::unknown:
      return beast::iequals(header.name_string(), "Last-Event-ID") ? &request.last_event_id
                                                                   : nullptr;
    default:
      return nullptr;
  }
}

// Looks at each header once: to search for each of the names takes longer than all the rest of the
// head. From the last to the first, so that the first stays.
void FillHeaders(const RequestHead& message, HttpRequest& request) {
  for (auto it = message.end(); it != message.begin();) {
    --it;
    if (it->name() == http::field::accept) {
      // What several of one name say together (RFC 9110, 5.3).
      const bool last = request.accept.empty();
      request.accept =
          absl::StrCat(ToStdString(it->value()), last ? "" : ", ", last ? "" : request.accept);
    } else if (it->name() == http::field::content_length) {
      request.has_length = true;
    } else if (std::string* const place = PlaceOf(*it, request)) {
      place->assign(it->value().data(), it->value().size());
    }
  }
}

// What may be there once at most.
struct Singles {
  int hosts = 0;
  int encodings = 0;
  int lengths = 0;
  int authorizations = 0;
  bool length_is_number = true;
};

Singles CountSingles(const RequestHead& message) {
  Singles found;
  for (const auto& header : message) {
    switch (header.name()) {
      case http::field::host:
        ++found.hosts;
        break;
      case http::field::transfer_encoding:
        ++found.encodings;
        break;
      case http::field::content_length:
        ++found.lengths;
        found.length_is_number =
            header.value().find_first_not_of("0123456789") == beast::string_view::npos;
        break;
      case http::field::authorization:
        ++found.authorizations;
        break;
      default:
        break;
    }
  }
  return found;
}

}  // namespace

std::optional<Problem> CheckHead(const RequestHead& message) {
  const Singles found = CountSingles(message);
  if (found.hosts > 1 || (message.version() >= 11 && found.hosts == 0)) {
    return MakeProblem(400, "INVALID_ARGUMENT", "exactly one Host header is needed");
  }
  if (found.encodings > 0) {
    return MakeProblem(411, "LENGTH_REQUIRED",
                       "send the body with Content-Length, not with Transfer-Encoding");
  }
  const beast::string_view target = message.target();
  if (!target.starts_with('/') && target != "*" && !target.starts_with("http://") &&
      !target.starts_with("https://")) {
    return MakeProblem(400, "INVALID_ARGUMENT", "the address must begin with '/'");
  }
  // The parser lets lengths that agree pass.
  if (found.lengths > 1 || !found.length_is_number) {
    return MakeProblem(400, "INVALID_ARGUMENT", "Content-Length must be one number");
  }
  if (found.authorizations > 1) {
    return MakeProblem(400, "INVALID_ARGUMENT", "more than one Authorization header");
  }
  const beast::string_view expect = message[http::field::expect];
  if (!expect.empty() && !beast::iequals(expect, "100-continue")) {
    return MakeProblem(417, "INVALID_ARGUMENT", "only 'Expect: 100-continue' is understood");
  }
  return std::nullopt;
}

void FillHead(const RequestHead& message, HttpRequest& request) {
  request.method = ToStdString(message.method_string());
  const std::string target = ToStdString(message.target());
  const std::string_view address = OriginForm(target);
  const std::string_view authority = Authority(target);
  const std::size_t question = address.find('?');
  request.path = std::string(address.substr(0, question));
  if (question != std::string_view::npos) request.query = std::string(address.substr(question + 1));
  FillHeaders(message, request);
  // RFC 9112, 3.2.2: it counts more than the header.
  if (!authority.empty()) request.host = std::string(authority);
}

std::string GivenRequestId(const RequestHead& head) {
  const std::string given = ToStdString(head["X-Request-Id"]);
  const bool sane =
      !given.empty() && given.size() <= kRequestIdBytesMax &&
      std::all_of(given.begin(), given.end(), [](char c) { return c > ' ' && c < 0x7f; });
  return sane ? given : "";
}

Problem TimeFault(const ListenerLimits& limits) {
  return MakeProblem(408, "REQUEST_TIMEOUT",
                     absl::StrFormat("the request must arrive whole within %s",
                                     absl::FormatDuration(limits.request_time_max)));
}

Problem ParserFault(const beast::error_code& error, const RequestHead& head,
                    const ListenerLimits& limits) {
  if (error == http::error::body_limit) {
    return MakeProblem(413, "BODY_TOO_LARGE",
                       absl::StrFormat("a body may have at most %d bytes", limits.body_bytes_max));
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    const std::string detail = absl::StrFormat(
        "request line and headers may have at most %d bytes together", limits.header_bytes_max);
    const bool line_ended = !head.target().empty();
    return line_ended ? MakeProblem(431, "HEADER_TOO_LARGE", detail)
                      : MakeProblem(414, "URI_TOO_LONG", detail);
  }
  return MakeProblem(400, "INVALID_ARGUMENT",
                     absl::StrCat("this is not valid HTTP/1.1: ", error.message()));
}

std::string_view MethodLabel(std::string_view method) {
  constexpr std::array<std::string_view, 7> kKnown = {"GET",   "HEAD",   "POST",   "PUT",
                                                      "PATCH", "DELETE", "OPTIONS"};
  const bool known = std::find(kKnown.begin(), kKnown.end(), method) != kKnown.end();
  return known ? method : "OTHER";
}

}  // namespace plimsoll::internal
