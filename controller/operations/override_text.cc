#include "controller/operations/override_text.h"

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/config/map_reader.h"
#include "controller/config/scalars.h"
#include "controller/config/yaml_tree.h"
#include "controller/operations/audit.h"
#include "controller/operations/json_text.h"

namespace plimsoll {
namespace {

void ReadPin(MapReader& map, Override& pin, Faults& faults) {
  if (const YamlNode* const node = map.Find("limit")) {
    std::int32_t limit = 0;
    map.Whole("limit", limit);
    const bool is_number = ParseWhole(*node).ok();
    if (is_number && (limit < 0 || limit > kCallsMax)) {
      faults.Add("/limit",
                 absl::StrCat("must be between 0, which stops all calls, and ", kCallsMax),
                 FaultCode::kOutOfRange);
    }
    pin.limit = limit;
  }
  if (map.Find("mode") != nullptr) {
    Mode mode = Mode::kEnforce;
    map.Word<Mode>(
        "mode",
        {{"enforce", Mode::kEnforce}, {"observe", Mode::kObserve}, {"disabled", Mode::kDisabled}},
        {}, mode);
    pin.mode = mode;
  }
}

absl::Time ReadTime(MapReader& map, const std::string& key, Faults& faults) {
  std::string text;
  map.Text(key, text);
  absl::Time time;
  std::string error;
  if (!text.empty() && !absl::ParseTime(absl::RFC3339_full, text, &time, &error)) {
    faults.Add(map.Pointer(key),
               absl::StrCat("must be a time such as 2026-11-29T18:20:00Z, not ", Quoted(text)));
  }
  return time;
}

void ReadReason(MapReader& map, std::string& reason, Faults& faults) {
  constexpr std::size_t kReasonBytesMax = 500;
  map.Text("reason", reason);
  if (reason.size() > kReasonBytesMax) {
    faults.Add("/reason", absl::StrCat("must have at most ", kReasonBytesMax, " bytes"),
               FaultCode::kOutOfRange);
  }
  if (reason.empty()) {
    faults.Add("/reason", "say why, for whoever finds it: an incident, a name",
               FaultCode::kRequired);
  }
}

void CheckExpiry(const YamlNode* node, absl::Time expire_time, absl::Time now, Faults& faults) {
  if (node == nullptr) {
    faults.Add("/expire_time", "say until when: an override ends by itself", FaultCode::kRequired);
  } else if (expire_time != absl::UnixEpoch() &&
             (expire_time <= now || expire_time > now + kOverrideMax)) {
    faults.Add("/expire_time",
               absl::StrCat("must lie after now, ", TimeText(now), ", and at most 30 days ahead"),
               FaultCode::kOutOfRange);
  }
}

constexpr char kLeastOverride[] = R"({"limit": 10, "reason": "…", "expire_time": "…"})";

}  // namespace

OverrideFacts ReadOverride(const std::string& body, absl::Time now, Faults& faults) {
  OverrideFacts facts;
  facts.create_time = now;
  std::optional<YamlNode> root = ParseYaml(body, {kLeastOverride, ""}, faults);
  if (!root.has_value()) return facts;
  DropNulls(*root);
  MapReader map(*root, "", faults);
  ReadPin(map, facts.pin, faults);
  ReadReason(map, facts.reason, faults);
  facts.expire_time = ReadTime(map, "expire_time", faults);
  CheckExpiry(map.Find("expire_time"), facts.expire_time, now, faults);
  map.Ignore({"dependency", "set_by", "create_time", "revision"});
  map.Finish();
  if (facts.pin == Override{}) {
    faults.Add("", "says neither \"limit\" nor \"mode\": pin at least one", FaultCode::kRequired);
  }
  return facts;
}

std::string ToJson(const OverrideFacts& facts) {
  std::string json = "{";
  if (facts.pin.limit.has_value()) absl::StrAppend(&json, "\"limit\":", *facts.pin.limit, ",");
  if (facts.pin.mode.has_value()) {
    absl::StrAppend(&json, "\"mode\":\"", std::string(ToString(*facts.pin.mode)), "\",");
  }
  return absl::StrCat(json, "\"reason\":", JsonString(facts.reason),
                      ",\"set_by\":", JsonString(facts.set_by),
                      ",\"create_time\":", JsonString(TimeText(facts.create_time)),
                      ",\"expire_time\":", JsonString(TimeText(facts.expire_time)),
                      ",\"revision\":\"", facts.revision, "\"}");
}

std::optional<OverrideFacts> ParseOverride(const std::string& document) {
  Faults faults;
  OverrideFacts facts;
  const std::optional<YamlNode> root = ParseYaml(document, {kLeastOverride, ""}, faults);
  if (!root.has_value()) return std::nullopt;
  MapReader map(*root, "", faults);
  ReadPin(map, facts.pin, faults);
  ReadReason(map, facts.reason, faults);
  map.Text("set_by", facts.set_by);
  facts.create_time = ReadTime(map, "create_time", faults);
  facts.expire_time = ReadTime(map, "expire_time", faults);
  std::string revision;
  map.Text("revision", revision);
  map.Finish();
  const bool numbered = absl::SimpleAtoi(revision, &facts.revision);
  if (!numbered || !faults.empty()) return std::nullopt;
  return facts;
}

}  // namespace plimsoll
