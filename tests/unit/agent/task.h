#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace plimsoll {

// A coroutine that begins at once and is destroyed with this, wherever it stands.
class Task {
 public:
  struct promise_type {
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const {}
    void unhandled_exception() const { std::terminate(); }
  };

  explicit Task(std::coroutine_handle<> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  ~Task() {
    if (handle_) handle_.destroy();
  }
  Task& operator=(Task&&) = delete;

 private:
  std::coroutine_handle<> handle_;
};

}  // namespace plimsoll
