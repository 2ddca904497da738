#pragma once

#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/core/time.h"

namespace plimsoll {

// Whether a controller that agents could not reach stands for election: last of all, so that others
// win, until an agent is heard. It stands for what nobody has taken in one lease of agents, for it
// may be alone; and for anything after some time (six leases, twice that the next time, and so on),
// for with shards no agent comes to whom leads nothing. Thread-safe.
class StandBack {
 public:
  // `lease`: of agents.
  StandBack(int shards, absl::Duration lease);

  // No agent reaches this controller; one does.
  void Unheard(Instant now);
  void Heard();
  // To be asked for as long as nobody leads this shard, at least once in two seconds.
  bool MayStand(int shard, Instant now);

 private:
  struct Vacancy {
    Instant since;
    Instant asked_at;
  };

  const absl::Duration lease_;
  Mutex mutex_;
  std::vector<Vacancy> vacancies_ ABSL_GUARDED_BY(mutex_);  // by shard
  bool unheard_ ABSL_GUARDED_BY(mutex_) = false;
  int times_ ABSL_GUARDED_BY(mutex_) = 0;
  Instant until_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace plimsoll
