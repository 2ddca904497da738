#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/http/src/router.h"

namespace plimsoll::internal {

// One page of a list. A token says where the next page begins and belongs to the filter it was made
// for, so that a page cannot be continued under another.
struct PageRequest {
  std::size_t size = 100;
  std::string after;   // the last key of the page before; empty for the first
  std::string filter;  // what the token belongs to: the address and its filters
};

inline constexpr std::size_t kPageSizeDefault = 100;
inline constexpr std::size_t kPageSizeMax = 1000;

// Reads page_size and page_token. Returns kInvalidArgument for a bad size, kFailedPrecondition for
// a token that is unknown or belongs to another filter.
absl::StatusOr<PageRequest> ReadPageRequest(const RoutedRequest& routed);
// FNV-1a: the same on every run.
std::uint64_t FingerprintOf(const std::string& text);
std::string MakePageToken(const PageRequest& page, const std::string& last_key);

// The rows of one page out of (key, row) in any order, and the token of the next page, empty if
// there is none.
template <typename Row>
struct Page {
  std::vector<Row> rows;
  std::string next_token;
};
template <typename Row>
Page<Row> MakePage(std::vector<std::pair<std::string, Row>> keyed, const PageRequest& request) {
  std::sort(keyed.begin(), keyed.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  auto it = keyed.begin();
  if (!request.after.empty()) {
    it = std::upper_bound(keyed.begin(), keyed.end(), request.after,
                          [](const std::string& key, const auto& row) { return key < row.first; });
  }
  Page<Row> page;
  for (; it != keyed.end() && page.rows.size() < request.size; ++it) {
    page.rows.push_back(std::move(it->second));
  }
  if (it != keyed.end() && it != keyed.begin()) {
    page.next_token = MakePageToken(request, std::prev(it)->first);
  }
  return page;
}

}  // namespace plimsoll::internal
