#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "plimsoll/controller/snapshot.h"
#include "plimsoll/http/operations.h"

namespace plimsoll::internal {

// The JSON of what operators have set, and of why a limit is what it is. Pure. Thread-safe.

// "2026-11-29T17:20:11.031Z".
std::string CalendarText(absl::Time time);

nlohmann::ordered_json OverrideView(const DependencyId& dependency, const OverrideFacts& facts);
nlohmann::ordered_json ConfigStatusView(const ConfigFacts& facts);

// How the limit of `row` comes about, step by step: law, bounds, override, quota.
nlohmann::ordered_json ExplainView(const LimitRow& row, const DependencyRow& dependency,
                                   const std::optional<OverrideFacts>& pinned);
// What a law would make of samples.
nlohmann::ordered_json TrialView(const std::vector<TrialDecision>& decisions);

}  // namespace plimsoll::internal
