#include "tests/integration/chaos/stall_watch.h"

#include <algorithm>

#include "plimsoll/core/clock.h"

namespace plimsoll::chaos {
namespace {

constexpr absl::Duration kNap = absl::Milliseconds(10);

}  // namespace

StallWatch::StallWatch() : thread_([this] { Watch(); }) {}

StallWatch::~StallWatch() {
  stopped_.store(true);
  thread_.join();
}

void StallWatch::Watch() {
  while (!stopped_.load()) {
    const Instant start = RealClock().Now();
    std::this_thread::sleep_for(absl::ToChronoNanoseconds(kNap));
    const absl::Duration stall = RealClock().Now() - start - kNap;
    // A value taken in between is at worst reported twice.
    longest_ns_.store(std::max(longest_ns_.load(), absl::ToInt64Nanoseconds(stall)));
  }
}

}  // namespace plimsoll::chaos
