#include "plimsoll/agent/call_options.h"

#include <algorithm>

#include "plimsoll/core/check.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

int CostOfBytes(long long bytes, long long unit) {
  PLIMSOLL_CHECK(bytes >= 0 && unit > 0, "bytes are not negative, and a unit is some of them");
  const long long units = bytes / unit + (bytes % unit == 0 ? 0 : 1);
  return static_cast<int>(std::clamp<long long>(units, 1, kCallsMax));
}

}  // namespace plimsoll
