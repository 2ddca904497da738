#include "plimsoll/agent/retry_budget.h"

#include <string>
#include <utility>

#include "agent/src/retry_window.h"
#include "plimsoll/core/check.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/violations.h"

namespace plimsoll {
namespace {

constexpr double kMinPerSecondMax = 1000;
constexpr std::chrono::seconds kWindowMin{1};
constexpr std::chrono::minutes kWindowMax{10};

std::unique_ptr<internal::RetryWindow> MakeWindow(const RetryBudgetOptions& options) {
  const absl::Status valid = Validate(options);
  PLIMSOLL_CHECK(valid.ok(), std::string(valid.message()).c_str());
  return std::make_unique<internal::RetryWindow>(options, RealClock());
}

}  // namespace

absl::Status Validate(const RetryBudgetOptions& options) {
  Violations violations(Violations::Form::kWords);
  violations.Require(options.ratio >= 0 && options.ratio <= 1, "ratio", options.ratio,
                     "must be 0 to 1");
  violations.Require(options.min_per_second >= 0 && options.min_per_second <= kMinPerSecondMax,
                     "min_per_second", options.min_per_second, "must be 0 to 1000");
  violations.Require(options.window >= kWindowMin && options.window <= kWindowMax, "window",
                     options.window, "must be 1 second to 10 minutes");
  return violations.ToStatus("retry budget options");
}

RetryBudget::RetryBudget(const RetryBudgetOptions& options) : RetryBudget(MakeWindow(options)) {}
RetryBudget::RetryBudget(std::unique_ptr<internal::RetryWindow> window)
    : window_(std::move(window)) {}
RetryBudget::~RetryBudget() = default;

void RetryBudget::CountCall() { window_->CountCall(); }
bool RetryBudget::TryTake() { return window_->TryTake(); }
RetryBudgetStats RetryBudget::stats() const { return window_->Stats(); }

}  // namespace plimsoll
