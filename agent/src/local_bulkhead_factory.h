#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "plimsoll/agent/local_bulkhead.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/random.h"

namespace plimsoll {

// Makes local bulkheads whose time and chance are handed in.
class LocalBulkheadFactory {
 public:
  // As MakeLocalBulkhead(). `clock` must outlive the bulkhead and its permits.
  static absl::StatusOr<std::unique_ptr<LocalBulkhead>> Make(const LocalBulkheadOptions& options,
                                                             const Clock& clock, Random random);
};

}  // namespace plimsoll
