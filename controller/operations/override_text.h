#pragma once

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "controller/config/faults.h"
#include "plimsoll/http/operations.h"

namespace plimsoll {

// An override ends at the latest so long after it was set: what is to stay belongs into the policy.
inline constexpr absl::Duration kOverrideMax = absl::Hours(30 * 24);

// Reads the body of a request; `now` is when it is set. What is wrong is reported. Who set it and
// its revision are for the caller to fill in. Pure.
OverrideFacts ReadOverride(const std::string& body, absl::Time now, Faults& faults);

// What the store keeps of it; the reverse gives nothing for what is no such document.
std::string ToJson(const OverrideFacts& facts);
std::optional<OverrideFacts> ParseOverride(const std::string& document);

}  // namespace plimsoll
