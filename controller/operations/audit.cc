#include "controller/operations/audit.h"

#include "absl/strings/str_cat.h"
#include "controller/operations/json_text.h"

namespace plimsoll {

std::string ToJson(const AuditRecord& record) {
  std::string json = absl::StrCat(
      "{\"time\":", JsonString(TimeText(record.time)), ",\"who\":", JsonString(record.who),
      ",\"request_id\":", JsonString(record.request_id), ",\"what\":", JsonString(record.what));
  if (!record.target.empty()) absl::StrAppend(&json, ",\"target\":", JsonString(record.target));
  if (!record.before.empty()) absl::StrAppend(&json, ",\"before\":", record.before);
  if (!record.after.empty()) absl::StrAppend(&json, ",\"after\":", record.after);
  return absl::StrCat(json, ",\"result\":", JsonString(record.result), "}");
}

std::string TimeText(absl::Time time) {
  const absl::Duration since = absl::Trunc(time - absl::UnixEpoch(), absl::Milliseconds(1));
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", absl::UnixEpoch() + since, absl::UTCTimeZone());
}

}  // namespace plimsoll
