// A guarded call in a coroutine: it waits for its permit, and pauses between attempts, without a
// thread.
#include <plimsoll/agent/guard.h>
#include <plimsoll/agent/local_bulkhead.h>
#include <plimsoll/agent/next_await.h>

#include <chrono>
#include <coroutine>
#include <exception>
#include <future>
#include <iostream>

using std::chrono::milliseconds;

namespace {

// The least that a coroutine must have; yours come with your event loop.
struct Detached {
  struct promise_type {
    Detached get_return_object() const { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const {}
    void unhandled_exception() const { std::terminate(); }
  };
};

// Stands for a dependency that is overloaded at first.
plimsoll::AttemptEnd Charge(const plimsoll::Attempt& attempt) {
  if (attempt.number == 1) return {plimsoll::Outcome::kOverload, milliseconds(20)};
  return plimsoll::Outcome::kSuccess;
}

Detached ChargeOnce(plimsoll::Guard& guard, std::promise<plimsoll::GuardReport>& report) {
  plimsoll::GuardedCall call(guard, {.wait = milliseconds(50), .idempotent = true});
  while (co_await call.NextAwait()) {
    call.End(Charge(call.attempt()));  // co_await it, if your client can
  }
  report.set_value(call.report());
}

}  // namespace

int main() {
  plimsoll::LocalBulkheadOptions options;
  options.dependency = "payments-api";
  options.bulkhead.queue.capacity = 100;
  const auto local = plimsoll::MakeLocalBulkhead(options);
  if (!local.ok()) {
    std::cerr << local.status().message() << '\n';
    return 1;
  }
  plimsoll::Guard guard({.bulkhead = &(*local)->bulkhead()});

  std::promise<plimsoll::GuardReport> report;
  ChargeOnce(guard, report);
  const plimsoll::GuardReport charged = report.get_future().get();
  std::cout << "charged: " << (charged.ok() ? "yes" : "no") << ", after " << charged.attempts
            << " attempts\n";
}
