#include "plimsoll/agent/guard.h"

#include <algorithm>
#include <string>
#include <utility>

#include "agent/src/guard_parts.h"
#include "agent/src/longest_nap.h"
#include "plimsoll/core/check.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/core/violations.h"

namespace plimsoll {
namespace {

using std::chrono::nanoseconds;

void BlockFor(nanoseconds duration, const Clock& clock) {
  const Instant end = clock.Now() + absl::FromChrono(duration);
  Mutex mutex;
  CondVar nobody_notifies;
  const MutexLock lock(mutex);
  for (absl::Duration left = end - clock.Now(); left > absl::ZeroDuration();
       left = end - clock.Now()) {
    nobody_notifies.WaitFor(mutex, std::min(left, internal::kLongestNap));
  }
}

}  // namespace

absl::Status Validate(const GuardOptions& options) {
  if (absl::Status retry = Validate(options.retry); !retry.ok()) return retry;
  Violations violations(Violations::Form::kWords);
  violations.Require(options.attempt_timeout >= nanoseconds::zero(), "attempt_timeout",
                     options.attempt_timeout, "must be zero or more");
  return violations.ToStatus("guard options");
}

Guard::Guard(GuardLayers layers, GuardOptions options)
    : Guard(layers, std::move(options),
            std::make_unique<Parts>(RealClock(), Random::FromEntropy())) {}

Guard::Guard(GuardLayers layers, GuardOptions options, std::unique_ptr<Parts> parts)
    : options_(std::move(options)), layers_(layers), parts_(std::move(parts)) {
  const absl::Status valid = Validate(options_);
  PLIMSOLL_CHECK(valid.ok(), std::string(valid.message()).c_str());
  if (options_.retry.attempts_max == 1) return;
  if (layers_.retry_budget == nullptr) parts_->own_budget = std::make_unique<RetryBudget>();
  parts_->budget =
      layers_.retry_budget != nullptr ? layers_.retry_budget : parts_->own_budget.get();
}

Guard::~Guard() = default;

void Guard::Pause(nanoseconds duration) {
  if (options_.pause) return options_.pause(duration);
  BlockFor(duration, parts_->clock);
}

}  // namespace plimsoll
