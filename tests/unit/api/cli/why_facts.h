#pragma once

#include <string>

#include "api/cli/src/why.h"

namespace plimsoll::cli {

// payments-db at 2026-11-29T17:20:23Z: a quota of 120, shared by three, that binds checkout-0.
WhyFacts QuotaBinds();
// Its parts, as the controller answers them: "dependency", "quota", "limits" or "events".
std::string AnswerBody(const std::string& name);

}  // namespace plimsoll::cli
