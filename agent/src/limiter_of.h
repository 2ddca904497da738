#pragma once

#include "plimsoll/agent/bulkhead.h"

namespace plimsoll::internal {

// The way to the limiter of a bulkhead, for parts of this library that need more of it than its
// users.
class LimiterOf {
 public:
  static Limiter& Get(Bulkhead& bulkhead) { return *bulkhead.limiter_; }
};

}  // namespace plimsoll::internal
