#include "plimsoll/agent/outcome.h"

namespace plimsoll {

std::string_view ToString(Outcome outcome) {
  switch (outcome) {
    case Outcome::kSuccess:
      return "success";
    case Outcome::kError:
      return "error";
    case Outcome::kOverload:
      return "overload";
    case Outcome::kTimeout:
      return "timeout";
    case Outcome::kCancelled:
      return "cancelled";
    case Outcome::kIgnored:
      return "ignored";
  }
  return "";
}

}  // namespace plimsoll
