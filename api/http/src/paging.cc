#include "api/http/src/paging.h"

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace plimsoll::internal {
namespace {

std::string FilterOf(const RoutedRequest& routed) {
  std::string filter = routed.request.path;
  QueryParameters sorted = routed.query;
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [name, value] : sorted) {
    if (name != "page_size" && name != "page_token") {
      absl::StrAppend(&filter, "&", name, "=", value);
    }
  }
  return filter;
}

std::string Prefix(const std::string& filter) {
  return absl::StrCat(absl::Hex(FingerprintOf(filter), absl::kZeroPad16), ".");
}

}  // namespace

std::uint64_t FingerprintOf(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

absl::StatusOr<PageRequest> ReadPageRequest(const RoutedRequest& routed) {
  PageRequest page;
  page.filter = FilterOf(routed);
  page.size = kPageSizeDefault;
  const std::string size_text = routed.Parameter("page_size");
  std::int64_t size = 0;
  if (!size_text.empty() && (!absl::SimpleAtoi(size_text, &size) || size < 0)) {
    return absl::InvalidArgumentError("page_size must be a whole number from 0 to 1000");
  }
  if (size > 0) page.size = std::min(static_cast<std::size_t>(size), kPageSizeMax);

  const std::string token = routed.Parameter("page_token");
  if (token.empty()) return page;
  std::string decoded;
  const std::string prefix = Prefix(page.filter);
  if (!absl::WebSafeBase64Unescape(token, &decoded) || !decoded.starts_with(prefix)) {
    return absl::FailedPreconditionError(
        "page_token is unknown or belongs to another filter; start again without it");
  }
  page.after = decoded.substr(prefix.size());
  return page;
}

std::string MakePageToken(const PageRequest& page, const std::string& last_key) {
  return absl::WebSafeBase64Escape(absl::StrCat(Prefix(page.filter), last_key));
}

}  // namespace plimsoll::internal
