#include "agent/src/fork_registry.h"

#include <pthread.h>

#include <atomic>
#include <set>

#include "absl/base/thread_annotations.h"
#include "plimsoll/core/mutex.h"

namespace plimsoll::internal {
namespace {

// Never destroyed: permits and agents with static storage may end after it would be.
struct Registry {
  Mutex mutex;
  std::set<ForkObserver*> observers ABSL_GUARDED_BY(mutex);
  std::atomic<int> generation{0};
};

Registry& GetRegistry() {
  static auto* const registry = new Registry;
  return *registry;
}

// The lock is taken in one handler and given back in another, which the analysis cannot follow.
void BeforeFork() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  Registry& registry = GetRegistry();
  registry.mutex.Lock();
  for (ForkObserver* observer : registry.observers) observer->BeforeFork();
}

void AfterForkInParent() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  Registry& registry = GetRegistry();
  for (ForkObserver* observer : registry.observers) observer->AfterFork();
  registry.mutex.Unlock();
}

void AfterForkInChild() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  Registry& registry = GetRegistry();
  registry.generation.fetch_add(1, std::memory_order_relaxed);
  for (ForkObserver* observer : registry.observers) {
    observer->AfterFork();
    observer->InForkedChild();
  }
  registry.mutex.Unlock();
}

void InstallHandlersOnce() {
  static const bool installed = [] {
    pthread_atfork(&BeforeFork, &AfterForkInParent, &AfterForkInChild);
    return true;
  }();
  static_cast<void>(installed);
}

}  // namespace

void RegisterForkObserver(ForkObserver& observer) {
  InstallHandlersOnce();
  Registry& registry = GetRegistry();
  const MutexLock lock(registry.mutex);
  registry.observers.insert(&observer);
}

void UnregisterForkObserver(ForkObserver& observer) {
  Registry& registry = GetRegistry();
  const MutexLock lock(registry.mutex);
  registry.observers.erase(&observer);
}

int ForkGeneration() { return GetRegistry().generation.load(std::memory_order_relaxed); }

}  // namespace plimsoll::internal
