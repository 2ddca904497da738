#include "agent/src/timer_thread.h"

#include <pthread.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "agent/src/longest_nap.h"
#include "agent/src/signals_blocked.h"
#include "plimsoll/core/check.h"

namespace plimsoll::internal {
namespace {

void RunCallback(const TimerCallback& callback) {
  try {
    callback();
  } catch (...) {
    PLIMSOLL_CHECK(false, "the callback of a timer must not throw");
  }
}

}  // namespace

TimerThread::TimerThread(const Clock& clock) : clock_(clock) { RegisterForkObserver(*this); }

TimerThread::~TimerThread() {
  UnregisterForkObserver(*this);
  std::thread thread;
  {
    const MutexLock lock(mutex_);
    if (state_ == nullptr) return;
    state_->stop = true;
    thread = std::move(state_->thread);
    Post();
  }
  thread.join();
}

TimerId TimerThread::Schedule(Instant at, TimerCallback callback) {
  PLIMSOLL_CHECK(callback != nullptr, "a timer has a callback");
  const MutexLock lock(mutex_);
  if (!StartOnce()) return kNoTimer;
  const bool is_next = at < state_->heap.next();
  const TimerId timer = state_->heap.Schedule(at, std::move(callback));
  if (is_next) Post();
  return timer;
}

bool TimerThread::Cancel(TimerId timer) {
  std::optional<TimerCallback> cancelled;  // destroyed without the lock
  const MutexLock lock(mutex_);
  if (state_ != nullptr) cancelled = state_->heap.Cancel(timer);
  return cancelled.has_value();
}

void TimerThread::Wake() {
  const MutexLock lock(mutex_);
  if (state_ != nullptr) Post();
}

bool TimerThread::started() const {
  const MutexLock lock(mutex_);
  return state_ != nullptr;
}

void TimerThread::Post() {
  state_->posted = true;
  state_->changed.NotifyAll();
}

bool TimerThread::StartOnce() {
  if (state_ != nullptr) return true;
  auto state = std::make_unique<State>();
  const SignalsBlocked blocked;
  try {
    state->thread = std::thread([this] { Run(); });  // begins by waiting for mutex_
  } catch (const std::system_error&) {
    return false;
  }
  pthread_setname_np(state->thread.native_handle(), "plimsoll-timer");
  state_ = std::move(state);
  return true;
}

void TimerThread::Run() {
  while (const TimerCallback callback = WaitForDue()) RunCallback(callback);
}

// The next callback that is due; none once the thread is to end.
TimerCallback TimerThread::WaitForDue() {
  for (;;) {
    clock_.Refresh();
    const MutexLock lock(mutex_);
    State& state = *state_;
    if (state.stop) return nullptr;
    if (std::optional<TimerCallback> due = state.heap.PopDue(clock_.Now())) return *std::move(due);
    if (!std::exchange(state.posted, false)) {
      const absl::Duration left = state.heap.next() - clock_.Now();
      state.changed.WaitFor(mutex_, std::min(left, kLongestNap));
    }
  }
}

void TimerThread::BeforeFork() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Lock(); }
void TimerThread::AfterFork() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); }

// The thread does not exist here, and what its timers were about is the parent's business. Nothing
// is destroyed: a thread that runs must not be, a condition that somebody waits for cannot be, and
// what callbacks own is not ours.
void TimerThread::InForkedChild() {
  const MutexLock lock(mutex_);
  static_cast<void>(state_.release());
}

Timers& SharedTimers() {
  static auto* const timers = new TimerThread(RealClock());
  return *timers;
}

}  // namespace plimsoll::internal
