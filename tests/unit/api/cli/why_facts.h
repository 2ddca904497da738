#pragma once

#include "api/cli/src/why.h"

namespace plimsoll::cli {

// payments-db at 2026-11-29T17:20:23Z: a quota of 120, shared by three, that binds checkout-0.
WhyFacts QuotaBinds();
// Its parts, as the controller answers them.
extern const char kDependencyBody[];
extern const char kQuotaBody[];
extern const char kLimitsBody[];
extern const char kEventsBody[];

}  // namespace plimsoll::cli
