#include "api/http/src/law_views.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "plimsoll/algorithms/law_settings.h"

namespace plimsoll::internal {
namespace {

using Json = nlohmann::ordered_json;

// Null: a baseline that is learnt, a target that there is not.
Json View(absl::Duration value) {
  const bool set = value > absl::ZeroDuration() && value < absl::InfiniteDuration();
  return set ? Json(SettingText(value)) : Json(nullptr);
}
Json View(double value) { return value; }
Json View(int value) { return value; }
Json View(bool value) { return value; }
Json View(VegasStep value) { return std::string(ToString(value)); }
Json View(const LogRule& value) { return ToString(value); }

}  // namespace

std::string SettingText(absl::Duration setting) {
  constexpr std::pair<absl::Duration, const char*> kUnits[] = {{absl::Hours(1), "h"},
                                                               {absl::Minutes(1), "m"},
                                                               {absl::Seconds(1), "s"},
                                                               {absl::Milliseconds(1), "ms"}};
  for (const auto& [unit, name] : kUnits) {
    absl::Duration rest;
    const std::int64_t count = absl::IDivDuration(setting, unit, &rest);
    if (rest == absl::ZeroDuration() && count > 0) return absl::StrCat(count, name);
  }
  return absl::StrCat(absl::ToDoubleMicroseconds(setting), "us");
}

void AddLawSettings(const AlgorithmConfig& config, Json& view) {
  VisitLaws(config, [&](AlgorithmKind kind, const auto& law) {
    if (kind != config.kind) return;
    Json& settings = view[std::string(ToString(kind))] = Json::object();
    VisitSettings(
        law, [&](const std::string& name, const auto& value) { settings[name] = View(value); });
  });
}

}  // namespace plimsoll::internal
