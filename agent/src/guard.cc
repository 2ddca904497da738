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

void BlockFor(nanoseconds duration, const std::stop_token& stop, const Clock& clock) {
  const Instant end = clock.Now() + absl::FromChrono(duration);
  Mutex mutex;
  CondVar stopped;
  const std::stop_callback wake(stop, [&] {
    const MutexLock lock(mutex);
    stopped.NotifyAll();
  });
  const MutexLock lock(mutex);
  for (absl::Duration left = end - clock.Now();
       left > absl::ZeroDuration() && !stop.stop_requested(); left = end - clock.Now()) {
    stopped.WaitFor(mutex, std::min(left, internal::kLongestNap));
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
            std::make_unique<Parts>(RealClock(), Random::FromEntropy(), nullptr)) {}

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

void Guard::Pause(nanoseconds duration, const std::stop_token& stop) {
  if (options_.pause) return options_.pause(duration);
  BlockFor(duration, stop, parts_->clock);
}

}  // namespace plimsoll
