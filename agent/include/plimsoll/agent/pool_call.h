#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "plimsoll/agent/outcome.h"
#include "plimsoll/agent/permit.h"
#include "plimsoll/agent/retry_policy.h"

namespace plimsoll {

// What became of a task of a ThreadPool.
enum class TaskEnd {
  kDone,       // it returned in time
  kTimeout,    // its time ran out while it ran; it keeps its thread until it returns
  kRefused,    // it never ran: `rejection` says why
  kCancelled,  // it never ran: its caller took it back
};

template <typename T>
struct [[nodiscard]] TaskResult {
  TaskEnd end = TaskEnd::kRefused;
  std::optional<Rejection> rejection;  // if kRefused
  std::optional<T> value;              // if kDone
};
template <>
struct [[nodiscard]] TaskResult<void> {
  TaskEnd end = TaskEnd::kRefused;
  std::optional<Rejection> rejection;
};

namespace internal {

// How a task's value tells its bulkhead what it was; one that does not tell is a success.
template <typename T>
Outcome OutcomeOfValue(const T& value) {
  if constexpr (std::is_convertible_v<const T&, AttemptEnd>) {
    return AttemptEnd(value).outcome;
  } else {
    return Outcome::kSuccess;
  }
}
template <typename End, typename T>
Outcome OutcomeOfValue(const std::pair<End, T>& value) {
  return OutcomeOfValue(value.first);
}

// What a pool runs. Confined to the pool's thread until that is done with it, then to the caller.
class PoolTask {
 public:
  virtual ~PoolTask() = default;
  // Runs the function and keeps what it returned or threw. Nothing if it threw.
  virtual std::optional<Outcome> Run(const std::stop_token& stop) = 0;
};

template <typename F>
auto InvokeTask(F& function, const std::stop_token& stop) {
  if constexpr (std::is_invocable_v<F&, std::stop_token>) {
    return std::invoke(function, stop);
  } else {
    return std::invoke(function);
  }
}

template <typename F>
class PoolFunction final : public PoolTask {
 public:
  using Value = decltype(InvokeTask(std::declval<F&>(), std::declval<std::stop_token>()));

  explicit PoolFunction(F function) : function_(std::move(function)) {}

  std::optional<Outcome> Run(const std::stop_token& stop) override {
    std::optional<Outcome> outcome;
    try {
      outcome = RunFunction(stop);
    } catch (...) {
      thrown_ = std::current_exception();
    }
    function_.reset();  // what it holds is not kept until somebody asks for the result
    return outcome;
  }

  void MoveTo(TaskResult<Value>& result) {
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    if constexpr (!std::is_void_v<Value>) result.value = std::move(value_);
  }

 private:
  struct Nothing {};

  Outcome RunFunction(const std::stop_token& stop) {
    if constexpr (std::is_void_v<Value>) {
      InvokeTask(*function_, stop);
      return Outcome::kSuccess;
    } else {
      value_.emplace(InvokeTask(*function_, stop));
      return OutcomeOfValue(*value_);
    }
  }

  std::optional<F> function_;
  std::optional<std::conditional_t<std::is_void_v<Value>, Nothing, Value>> value_;
  std::exception_ptr thrown_;
};

class PoolEntry;

// The caller's end of a task.
class PoolTicket {
 public:
  explicit PoolTicket(std::shared_ptr<PoolEntry> entry) : entry_(std::move(entry)) {}

  std::optional<Rejection> rejection() const;
  TaskEnd Wait();
  void Cancel();

 private:
  std::shared_ptr<PoolEntry> entry_;
};

}  // namespace internal

// A task that was given to a ThreadPool, as its caller sees it: a future whose waiting ends in
// time. May outlive the pool. Dropping it takes nothing back: the task runs, and nobody looks at
// what it returned. Thread-compatible, but Cancel() may be called by any thread at any time.
template <typename F>
class [[nodiscard]] PoolCall {
 public:
  using Value = typename internal::PoolFunction<F>::Value;

  // Why it was refused, if it was: by Submit(), or since.
  std::optional<Rejection> rejection() const { return ticket_.rejection(); }

  // Waits until the task has ended or its deadline has passed, whichever is first. An exception of
  // the task is thrown here. Once only.
  TaskResult<Value> Get() {
    TaskResult<Value> result;
    result.end = ticket_.Wait();
    if (result.end == TaskEnd::kDone) function_->MoveTo(result);
    result.rejection = ticket_.rejection();
    return result;
  }

  // A task that has not begun never will. One that runs is asked to stop by its std::stop_token, as
  // it is when its deadline passes; whether it does is its own affair.
  void Cancel() { ticket_.Cancel(); }

 private:
  friend class ThreadPool;
  PoolCall(internal::PoolTicket ticket, std::shared_ptr<internal::PoolFunction<F>> function)
      : ticket_(std::move(ticket)), function_(std::move(function)) {}

  internal::PoolTicket ticket_;
  std::shared_ptr<internal::PoolFunction<F>> function_;
};

}  // namespace plimsoll
