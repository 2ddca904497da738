#pragma once

namespace plimsoll::internal {

// Something that fork() concerns. A child process has one thread, the one that called fork():
// locks that others held would stay locked for ever, and limits belong to the parent.
class ForkObserver {
 public:
  virtual ~ForkObserver() = default;

  // In the parent before the fork: takes what must not be held by others meanwhile.
  virtual void BeforeFork() {}
  // In the parent and in the child after it: gives it back.
  virtual void AfterFork() {}
  // In the child only, after AfterFork(). Must not allocate.
  virtual void InForkedChild() {}
};

// Thread-safe. Both take a lock that is also held during fork(); never call them with a lock that
// an observer's BeforeFork() takes.
void RegisterForkObserver(ForkObserver& observer);
void UnregisterForkObserver(ForkObserver& observer);

// How many forks lie between the start of the program and this process; it differs between parent
// and child. Grows only where something was registered.
int ForkGeneration();

}  // namespace plimsoll::internal
