#include "api/http/src/law_views.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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
  if (setting == absl::ZeroDuration()) return "0s";
  // Below a minute there is one unit.
  if (setting < absl::Minutes(1)) return absl::FormatDuration(setting);
  for (const auto& [unit, name] : {std::pair(absl::Hours(1), "h"), {absl::Minutes(1), "m"}}) {
    absl::Duration rest;
    const std::int64_t count = absl::IDivDuration(setting, unit, &rest);
    if (rest == absl::ZeroDuration()) return absl::StrCat(count, name);
  }
  return absl::StrFormat("%.9gs", absl::ToDoubleSeconds(setting));
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
