#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace plimsoll::internal {

// How the lease clock follows from what can be read cheaply: a line through (ticks, ns) of the
// processor's counter, or an offset to the system's raw clock. A value.
struct Timeline {
  static constexpr int kScaleBits = 32;

  std::uint64_t ns_per_tick = 0;  // in units of 2^-32 ns; 0: there is no counter to go by
  std::uint64_t ticks = 0;        // a moment of the counter,
  std::int64_t ns = 0;            // and the lease clock then; without a counter, the offset

  bool by_counter() const { return ns_per_tick != 0; }
  // A counter that runs behind its own past stands still here.
  std::int64_t AtTicks(std::uint64_t now) const {
    __extension__ using Wide = unsigned __int128;
    const auto passed = static_cast<std::int64_t>(now - ticks);
    if (passed <= 0) return ns;
    const Wide product = static_cast<Wide>(static_cast<std::uint64_t>(passed)) * ns_per_tick;
    return ns + static_cast<std::int64_t>(product >> kScaleBits);
  }
  std::int64_t AtRaw(std::int64_t raw_ns) const { return raw_ns + ns; }
};

// Where a timeline is published: two places that are written in turn, and the number of the newest.
// Readers are lock-free: one repeats only if another timeline was published meanwhile. Written by
// one thread at a time.
//
// A reader that saw something of timeline n + 2 in the place of n also sees a number of at least
// n + 1 afterwards, since each store here releases those before it, and each load acquires.
class PublishedTimeline {
 public:
  explicit PublishedTimeline(const Timeline& first) : by_counter_(first.by_counter()) {
    Write(places_[0], first);
  }

  void Publish(const Timeline& timeline) {
    const std::uint64_t next = number_.load(std::memory_order_relaxed) + 1;
    Write(places_[next % 2], timeline);
    number_.store(next, std::memory_order_release);
    by_counter_.store(timeline.by_counter(), std::memory_order_release);
  }

  // The newest timeline goes by the counter, or did a moment ago.
  bool by_counter() const { return by_counter_.load(std::memory_order_relaxed); }

  // What `read` makes of the newest timeline. It is called again if another was published while it
  // ran, so that no reading is made of a timeline of the past.
  template <typename Read>
  std::int64_t Now(const Read& read) const {
    for (;;) {
      const std::uint64_t number = number_.load(std::memory_order_acquire);
      const Place& place = places_[number % 2];
      const Timeline timeline = {place.ns_per_tick.load(std::memory_order_acquire),
                                 place.ticks.load(std::memory_order_acquire),
                                 place.ns.load(std::memory_order_acquire)};
      const std::int64_t now = read(timeline);
      if (number_.load(std::memory_order_relaxed) == number) [[likely]]
        return now;
    }
  }

 private:
  struct Place {
    std::atomic<std::uint64_t> ns_per_tick{0};
    std::atomic<std::uint64_t> ticks{0};
    std::atomic<std::int64_t> ns{0};
  };

  static void Write(Place& place, const Timeline& timeline) {
    place.ns_per_tick.store(timeline.ns_per_tick, std::memory_order_release);
    place.ticks.store(timeline.ticks, std::memory_order_release);
    place.ns.store(timeline.ns, std::memory_order_release);
  }

  alignas(64) std::atomic<std::uint64_t> number_{0};
  std::atomic<bool> by_counter_;
  std::array<Place, 2> places_;
};

}  // namespace plimsoll::internal
