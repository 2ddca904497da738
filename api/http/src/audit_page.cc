#include "api/http/src/audit_page.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/http/src/replies.h"
#include "plimsoll/controller/store.h"

namespace plimsoll::internal {
namespace {

// Where a page ended: how many records were newer than its last one then, and what that one was.
struct AuditPlace {
  std::size_t newer = 0;
  std::string print;
};

std::string PrintOf(const std::string& record) {
  return absl::StrCat(absl::Hex(FingerprintOf(record)));
}

std::optional<AuditPlace> ReadPlace(const std::string& key) {
  const std::size_t dot = key.find('.');
  std::uint32_t newer = 0;
  if (dot == std::string::npos || !absl::SimpleAtoi(key.substr(0, dot), &newer)) {
    return std::nullopt;
  }
  return AuditPlace{newer, key.substr(dot + 1)};
}

// Records only move away from the front, so what was at `newer` is there or further back.
std::size_t FirstBehind(const AuditPlace& place, const std::vector<std::string>& records) {
  for (std::size_t i = place.newer; i < records.size(); ++i) {
    if (PrintOf(records[i]) == place.print) return i + 1;
  }
  return records.size();
}

// A record is JSON; one that is not is shown as the text that it is.
nlohmann::ordered_json RecordView(const std::string& record) {
  auto view = nlohmann::ordered_json::parse(record, nullptr, /*allow_exceptions=*/false);
  if (view.is_object()) return view;
  return {{"record", record}};
}

}  // namespace

int AuditRecordsFor(const PageRequest& page) {
  // One more than asked for tells whether there is a next page.
  return page.after.empty() ? static_cast<int>(page.size) + 1 : kAuditKeep;
}

HttpResponse AuditPage(const PageRequest& page, const std::vector<std::string>& records) {
  std::size_t begin = 0;
  if (!page.after.empty()) {
    const std::optional<AuditPlace> place = ReadPlace(page.after);
    if (!place) return PageFault(absl::FailedPreconditionError("page_token is unknown"));
    begin = FirstBehind(*place, records);
  }
  const std::size_t end = std::min(records.size(), begin + page.size);
  auto items = nlohmann::ordered_json::array();
  for (std::size_t i = begin; i < end; ++i) items.push_back(RecordView(records[i]));
  std::string token;
  if (end < records.size()) {
    token = MakePageToken(page, absl::StrCat(end - 1, ".", PrintOf(records[end - 1])));
  }
  return JsonReply(200, {{"items", items}, {"next_page_token", token}});
}

}  // namespace plimsoll::internal
