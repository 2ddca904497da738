#include "plimsoll/agent/next_await.h"

namespace plimsoll {

bool NextAwaiter::await_ready() {
  answer_ = call_.NextAtOnce();
  return answer_.has_value();
}

// The coroutine may go on, and this be gone, before NextLater() returns.
void NextAwaiter::await_suspend(std::coroutine_handle<> coroutine) {
  const auto go_on = [this, coroutine](bool begun) {
    answer_ = begun;
    coroutine.resume();
  };
  call_.NextLater(go_on, std::move(executor_));
}

}  // namespace plimsoll
