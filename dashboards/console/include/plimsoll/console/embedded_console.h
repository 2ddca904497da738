#pragma once

#include "plimsoll/http/console.h"

namespace plimsoll {

// The console that this program carries, from dashboards/console. Thread-safe.
Console EmbeddedConsole();

}  // namespace plimsoll
