#include "plimsoll/core/clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include <atomic>
#include <cstdint>
#include <string_view>

#include "absl/time/clock.h"
#include "algorithms/core/src/clock_steering.h"
#include "plimsoll/core/timeline.h"

namespace plimsoll {
namespace {

using internal::ClockReading;
using internal::ClockSteering;
using internal::Timeline;

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
// Of so many readings the narrowest is taken: a thread may be put aside in the middle of one.
constexpr int kTries = 8;
constexpr std::int64_t kLookAtKernelNs = 10 * kNsPerSecond;

std::int64_t ReadNs(clockid_t id) {
  timespec value{};
  clock_gettime(id, &value);
  return value.tv_sec * kNsPerSecond + value.tv_nsec;
}

#if defined(__x86_64__)
std::uint64_t GlanceAtTicks() { return __rdtsc(); }
// The fence keeps the processor from reading the counter before what comes first in the program:
// else time would seem to go back from one thread to another. The kernel does the same.
std::uint64_t ReadTicks() {
  _mm_lfence();
  return __rdtsc();
}
// Runs at one pace whatever the processor does: Intel SDM volume 2, CPUID, leaf 80000007H.
bool HasInvariantCounter() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1U << 8)) != 0;
}
#else
std::uint64_t ReadTicks() { return static_cast<std::uint64_t>(ReadNs(CLOCK_MONOTONIC_RAW)); }
std::uint64_t GlanceAtTicks() { return ReadTicks(); }
bool HasInvariantCounter() { return false; }
#endif

// Linux tells the time by the counter only if it found the counters of all processors in step, and
// watches them from then on. In a virtual machine the host may advise against it.
bool KernelUsesCounter() {
  constexpr char kPath[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  const int file = open(kPath, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char name[16];
  const ssize_t length = read(file, name, sizeof(name));
  close(file);
  return length > 0 && std::string_view(name, static_cast<std::size_t>(length)) == "tsc\n";
}

ClockReading ReadOnce() {
  ClockReading reading;
  reading.ticks = ReadTicks();
  reading.raw_ns = ReadNs(CLOCK_MONOTONIC_RAW);
  const std::int64_t boot_ns = ReadNs(CLOCK_BOOTTIME);
  reading.suspended_ns = boot_ns - ReadNs(CLOCK_MONOTONIC);  // not too much, rather too little
  reading.width = ReadTicks() - reading.ticks;
  return reading;
}

ClockReading ReadNarrowly() {
  ClockReading narrowest = ReadOnce();
  for (int i = 1; i < kTries; ++i) {
    const ClockReading reading = ReadOnce();
    if (reading.width <= narrowest.width) narrowest = reading;
  }
  return narrowest;
}

// getpid is a call of the system each time, and a controller would make one per report. A forked
// child asks anew.
std::atomic<pid_t> own_pid{0};
void AskOwnPid() { own_pid.store(getpid(), std::memory_order_relaxed); }

// Held by one thread of one process. In a forked child nobody holds it: what the parent's thread
// had begun there goes on in the parent only.
class RefreshLock {
 public:
  RefreshLock(std::atomic<pid_t>& holder, pid_t self) : holder_(holder) {
    for (;;) {
      pid_t seen = 0;
      if (holder_.compare_exchange_strong(seen, self, std::memory_order_acquire)) return;
      if (seen != self && holder_.compare_exchange_strong(seen, self)) return;
      sched_yield();
    }
  }
  ~RefreshLock() { holder_.store(0, std::memory_order_release); }
  RefreshLock(const RefreshLock&) = delete;
  RefreshLock& operator=(const RefreshLock&) = delete;

 private:
  std::atomic<pid_t>& holder_;
};

class SystemClock final : public Clock {
 public:
  SystemClock() : Clock(&published_) { AskOwnPid(); }

  Instant Now() const override { return NowBy<ReadTicks>(); }
  Instant Glance() const override { return NowBy<GlanceAtTicks>(); }

  absl::Time WallTime() const override { return absl::Now(); }

  void Refresh() const override {
    const RefreshLock lock(refreshing_,
                           pid_kept_ ? own_pid.load(std::memory_order_relaxed) : getpid());
    ClockReading reading = ReadNarrowly();
    reading.counter_usable = CounterUsable(reading.raw_ns);
    if (steering_.Look(reading)) published_.Publish(steering_.timeline());
  }

 private:
  template <std::uint64_t (*kTicks)()>
  Instant NowBy() const {
    return {published_.Now([](const Timeline& timeline) {
      return timeline.by_counter() ? timeline.AtTicks(kTicks())
                                   : timeline.AtRaw(ReadNs(CLOCK_MONOTONIC_RAW));
    })};
  }
  bool CounterUsable(std::int64_t raw_ns) const {
    if (!invariant_) return false;
    if (raw_ns - looked_at_kernel_ns_ >= kLookAtKernelNs) {
      looked_at_kernel_ns_ = raw_ns;
      kernel_uses_it_ = KernelUsesCounter();
    }
    return kernel_uses_it_;
  }

  const bool invariant_ = HasInvariantCounter();
  const bool pid_kept_ = pthread_atfork(nullptr, nullptr, AskOwnPid) == 0;

  // Guarded by refreshing_.
  mutable std::atomic<pid_t> refreshing_{0};
  mutable ClockSteering steering_{ReadNarrowly()};
  mutable bool kernel_uses_it_ = false;
  mutable std::int64_t looked_at_kernel_ns_ = -kLookAtKernelNs;

  mutable internal::PublishedTimeline published_{steering_.timeline()};
};

}  // namespace

const Clock& RealClock() {
  static const auto* const clock = new SystemClock;
  return *clock;
}

}  // namespace plimsoll
