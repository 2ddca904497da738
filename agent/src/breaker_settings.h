#pragma once

#include "plimsoll/agent/breaker_options.h"
#include "plimsoll/core/breaker.h"

namespace plimsoll::internal {

// The same settings as the controller says them.
BreakerSettings SettingsOf(const BreakerOptions& options);

}  // namespace plimsoll::internal
