#pragma once

#include <memory>

#include "agent/src/retry_window.h"
#include "plimsoll/agent/retry_budget.h"
#include "plimsoll/core/clock.h"

namespace plimsoll {

// Makes budgets whose time is handed in.
class RetryBudgetFactory {
 public:
  // `clock` must outlive the budget.
  static std::unique_ptr<RetryBudget> Make(const RetryBudgetOptions& options, const Clock& clock) {
    return std::unique_ptr<RetryBudget>(
        new RetryBudget(std::make_unique<internal::RetryWindow>(options, clock)));
  }
};

}  // namespace plimsoll
