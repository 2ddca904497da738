#include "api/http/src/rate_limiter.h"

#include <algorithm>

namespace plimsoll::internal {
namespace {

// Looking at all buckets for each newcomer would be an attack of its own.
constexpr absl::Duration kDropPeriod = absl::Seconds(1);

}  // namespace

absl::Duration RateLimiter::Take(const std::string& caller, Instant now) {
  Bucket& bucket = Find(caller, now);
  bucket.spent = SpentAt(bucket, now);
  bucket.at = now;
  const double missing = bucket.spent + 1 - limit_.burst;
  if (missing > 0) return absl::Seconds(missing / limit_.per_second);
  bucket.spent += 1;
  return absl::ZeroDuration();
}

double RateLimiter::SpentAt(const Bucket& bucket, Instant now) const {
  const double returned = absl::ToDoubleSeconds(now - bucket.at) * limit_.per_second;
  return std::max(0.0, bucket.spent - std::max(0.0, returned));
}

RateLimiter::Bucket& RateLimiter::Find(const std::string& caller, Instant now) {
  const auto found = buckets_.find(caller);
  if (found != buckets_.end()) return found->second;
  if (buckets_.size() >= buckets_max_) DropFull(now);
  if (buckets_.size() >= buckets_max_) return shared_;
  return buckets_.emplace(caller, Bucket{0, now}).first->second;
}

void RateLimiter::DropFull(Instant now) {
  if (now < next_drop_) return;
  next_drop_ = now + kDropPeriod;
  absl::erase_if(buckets_,
                 [this, now](const auto& entry) { return SpentAt(entry.second, now) <= 0; });
}

}  // namespace plimsoll::internal
