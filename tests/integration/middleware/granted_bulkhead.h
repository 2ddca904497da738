#pragma once

#include <memory>

#include "plimsoll/core/clock.h"
#include "tests/unit/agent/limiter_support.h"

namespace plimsoll {

// A bulkhead whose limit outlasts the test.
class GrantedBulkhead {
 public:
  explicit GrantedBulkhead(int limit, const BulkheadOptions& options = {})
      : limiter_(internal::Limiter::Make(RealClock(), options)) {
    limiter_->Install(MakeFunction(1, limit, RealClock()), RealClock().Now());
  }
  Bulkhead& operator*() { return *bulkhead_; }
  Bulkhead* operator->() { return bulkhead_.get(); }
  void StopAdmitting() { limiter_->StopAdmitting(); }

 private:
  internal::Limiter* const limiter_;
  const std::unique_ptr<Bulkhead> bulkhead_ = BulkheadFactory::Make("self", limiter_);
};

}  // namespace plimsoll
