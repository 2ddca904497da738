#pragma once

#include <functional>
#include <string>
#include <variant>

#include "agent/src/transport.h"
#include "controller/simulation/src/event_queue.h"
#include "plimsoll/core/random.h"
#include "plimsoll/simulation/virtual_clock.h"
#include "tests/scale/books.h"
#include "tests/scale/figures.h"
#include "tests/scale/options.h"
#include "tests/scale/timetable.h"
#include "tests/scale/virtual_etcd.h"

namespace plimsoll::scale {

// What everybody in the world of one shard shares. Thread-compatible.
struct ShardWorld {
  ShardWorld(const Options& the_options, const Timetable& the_timetable, int the_shard,
             const std::vector<Policy>& policies, Figures& the_figures);

  Instant now() const { return queue.now(); }
  void After(absl::Duration delay, internal::EventQueue::Action action) {
    queue.After(delay, std::move(action));
  }
  // One way between an agent and a controller. Now and then nothing arrives, or late.
  void Send(internal::EventQueue::Action arrive);
  // How long a transaction takes.
  absl::Duration EtcdTime() {
    return options.etcd_min + random.Uniform() * (options.etcd_max - options.etcd_min);
  }
  // How long until somebody has seen a change in etcd.
  absl::Duration WatchTime() { return options.watch_max * random.Uniform(); }
  // The clock of a process: of any start, and as wrong as is allowed.
  VirtualClock MakeClock();

  const Options& options;
  const Timetable& timetable;
  const int shard;
  Figures& figures;
  internal::EventQueue queue;
  Random random;
  Books books;
  VirtualEtcd etcd;
};

}  // namespace plimsoll::scale
