#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"

namespace plimsoll {

namespace internal {
class RetryWindow;
}  // namespace internal

// Retries as a share of the traffic, so that an outage is not answered by a multiple of it:
//
//   retries of the last window <= ratio * calls of the last window + min_per_second * window
//
// which is the budget of https://sre.google/sre-book/handling-overload/ ("per-client retry budget")
// with a floor for little traffic, as in Finagle's RetryBudget.
struct RetryBudgetOptions {
  double ratio = 0.1;         // 0 to 1
  double min_per_second = 1;  // 0 to 1000; of this process, so a fleet has as many times more
  std::chrono::nanoseconds window{10'000'000'000};  // 1 second to 10 minutes
};

struct RetryBudgetStats {
  std::int64_t calls = 0;    // counted, retries not among them
  std::int64_t retries = 0;  // allowed
  std::int64_t denied = 0;   // wanted, and refused by the budget
};

// The budget of one dependency, shared by all that call it. Thread-safe; a call costs a clock read
// and an atomic addition, nothing allocates or waits. Never exceeded, also by threads that ask at
// the same time; then one of them may be denied what would just have fitted.
class RetryBudget {
 public:
  // Aborts if Validate(options) finds faults.
  explicit RetryBudget(const RetryBudgetOptions& options = {});
  ~RetryBudget();
  RetryBudget(const RetryBudget&) = delete;
  RetryBudget& operator=(const RetryBudget&) = delete;

  // A call begins; its first attempt only.
  void CountCall();
  // Takes a retry out of the budget, if it has one.
  bool TryTake();

  RetryBudgetStats stats() const;

 private:
  friend class RetryBudgetFactory;
  explicit RetryBudget(std::unique_ptr<internal::RetryWindow> window);

  const std::unique_ptr<internal::RetryWindow> window_;
};

// Lists every violation as name, value and rule. OK if there is none.
absl::Status Validate(const RetryBudgetOptions& options);

}  // namespace plimsoll
