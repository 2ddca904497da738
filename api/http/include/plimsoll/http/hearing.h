#pragma once

namespace plimsoll {

// Whether agents reach a controller.
enum class Hearing {
  kUnheard,       // it leads, agents asked steadily, and now none does any more
  kStillUnheard,  // it leads again, and nobody was heard since kUnheard
  kHeardAgain,    // after either
};

}  // namespace plimsoll
