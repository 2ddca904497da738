#include "plimsoll/agent/retry_scope.h"

#include <algorithm>

namespace plimsoll {
namespace {

thread_local RetryScope* innermost = nullptr;

}  // namespace

// What is left of a scope is never more than of the one around it, so the innermost tells it all.
RetryScope::RetryScope(int retries) : outer_(innermost), left_(std::clamp(retries, 0, Left())) {
  innermost = this;
}

RetryScope::~RetryScope() { innermost = outer_; }

int RetryScope::Left() { return innermost == nullptr ? kUnlimited : innermost->left_; }

bool RetryScope::TryTake() {
  if (Left() == 0) return false;
  Take(1);
  return true;
}

void RetryScope::Take(int retries) {
  const int taken = std::min(retries, Left());
  for (RetryScope* scope = innermost; scope != nullptr; scope = scope->outer_) {
    if (scope->left_ != kUnlimited) scope->left_ -= taken;
  }
}

}  // namespace plimsoll
