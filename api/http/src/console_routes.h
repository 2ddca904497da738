#pragma once

#include <vector>

#include "api/http/src/router.h"
#include "plimsoll/http/console.h"

namespace plimsoll::internal {

// The routes of the console: its page under every address below /ui/, since the page itself reads
// the rest of the address; its assets; and the way there from "/". None without a page.
std::vector<Route> ConsoleRoutes(const Console& console);

}  // namespace plimsoll::internal
