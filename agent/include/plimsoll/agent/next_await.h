#pragma once

#include <coroutine>
#include <optional>
#include <utility>

#include "plimsoll/agent/guarded_call.h"

namespace plimsoll {

// What GuardedCall::NextAwait() returns, to be awaited at once: true if an attempt has begun, false
// if the call's report is final. The coroutine goes on where the callback of NextAsync() would run.
//
// Destroying a coroutine that waits, with its call, takes it out of the queue or ends its pause,
// and a permit that was on its way goes to the next. Like any destruction it must not meet the
// coroutine running: with an executor it is safe in the executor's thread at any time, without one
// only where nothing can let it go on. Exceptions must not leave the coroutine by resume().
class [[nodiscard]] NextAwaiter {
 public:
  NextAwaiter(const NextAwaiter&) = delete;
  NextAwaiter& operator=(const NextAwaiter&) = delete;

  bool await_ready();
  void await_suspend(std::coroutine_handle<> coroutine);
  bool await_resume() const { return *answer_; }

 private:
  friend class GuardedCall;
  NextAwaiter(GuardedCall& call, GuardedCall::Executor executor)
      : call_(call), executor_(std::move(executor)) {}

  GuardedCall& call_;
  GuardedCall::Executor executor_;
  std::optional<bool> answer_;
};

}  // namespace plimsoll
