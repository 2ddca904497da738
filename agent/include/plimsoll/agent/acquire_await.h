#pragma once

#include <coroutine>
#include <memory>
#include <optional>

#include "plimsoll/agent/bulkhead.h"
#include "plimsoll/agent/call_options.h"
#include "plimsoll/agent/permit.h"

namespace plimsoll {

namespace internal {
class AsyncTicket;
class PermitQueue;
}  // namespace internal

// What Bulkhead::AcquireAwait() returns, to be awaited at once:
//
//   Admission admission = co_await payments.AcquireAwait({.wait = 50ms});
//
// If there is room, or no reason to wait, the coroutine is not suspended. Else it goes on in the
// executor; without one, inside of whatever call made room, on any thread, or on the library's
// timer thread: it must then be quick until it suspends again. It may outlive the bulkhead, and is
// then refused with kDraining. Exceptions must not leave the coroutine by resume().
//
// Destroying a coroutine that waits takes it out of the queue; a permit that was on its way goes to
// the next. Like any destruction it must not meet the coroutine running: with an executor it is
// safe in the executor's thread at any time, without one only where nothing can let it go on.
class [[nodiscard]] AcquireAwaiter {
 public:
  ~AcquireAwaiter();
  AcquireAwaiter(const AcquireAwaiter&) = delete;
  AcquireAwaiter& operator=(const AcquireAwaiter&) = delete;

  bool await_ready();
  void await_suspend(std::coroutine_handle<> coroutine);
  Admission await_resume();

 private:
  friend class Bulkhead;
  AcquireAwaiter(internal::Limiter* limiter, const CallOptions& options,
                 Bulkhead::Executor executor, CallSite site);

  internal::Limiter* const limiter_;  // not used once the coroutine is suspended
  const CallOptions options_;
  const Bulkhead::Executor executor_;
  const CallSite site_;
  internal::PermitQueue* queue_ = nullptr;
  std::shared_ptr<internal::AsyncTicket> ticket_;  // while it waits
  std::optional<Admission> answer_;
};

}  // namespace plimsoll
