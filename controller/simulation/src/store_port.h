#pragma once

#include <functional>

#include "absl/status/status.h"
#include "plimsoll/controller/store.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// What a simulated controller asks of the store while it reigns. Thread-compatible.
class StorePort {
 public:
  using Done = std::function<void(absl::Status)>;

  virtual ~StorePort() = default;

  // The epoch of the newest reign, by the store's own word: nobody in the world can ask for it.
  virtual Epoch epoch() const = 0;
  // As Reign::Commit() and Reign::Confirm(), with the result later.
  virtual void Commit(int controller, Epoch reign, const WriteBatch& batch, Done done) = 0;
  virtual void Confirm(int controller, Epoch reign, Done done) = 0;
};

}  // namespace plimsoll::internal
