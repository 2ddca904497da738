#include "controller/main/stand_back.h"

#include <algorithm>
#include <cstddef>

namespace plimsoll {
namespace {

// Not asked for so long: somebody has led meanwhile.
constexpr absl::Duration kAskedAnew = absl::Seconds(2);
constexpr int kLeases = 6;
constexpr int kDoublingsMax = 4;

}  // namespace

StandBack::StandBack(int shards, absl::Duration lease)
    : lease_(lease), vacancies_(static_cast<std::size_t>(shards)) {}

void StandBack::Unheard(Instant now) {
  const MutexLock lock(mutex_);
  unheard_ = true;
  until_ = now + lease_ * kLeases * (1 << std::min(times_++, kDoublingsMax));
}

void StandBack::Heard() {
  const MutexLock lock(mutex_);
  unheard_ = false;
  times_ = 0;
}

bool StandBack::MayStand(int shard, Instant now) {
  const MutexLock lock(mutex_);
  Vacancy& vacancy = vacancies_[static_cast<std::size_t>(shard)];
  if (now - vacancy.asked_at > kAskedAnew) vacancy.since = now;
  vacancy.asked_at = now;
  return !unheard_ || now >= until_ || now - vacancy.since >= lease_;
}

}  // namespace plimsoll
