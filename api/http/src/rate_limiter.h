#pragma once

#include <cstddef>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "plimsoll/core/time.h"
#include "plimsoll/http/access.h"

namespace plimsoll::internal {

// A token bucket for each caller. At most kBucketsMax are kept; callers beyond share one, so that
// somebody with many addresses slows down newcomers, not those who are known. Thread-compatible.
class RateLimiter {
 public:
  static constexpr std::size_t kBucketsMax = 10'000;

  explicit RateLimiter(const RateLimit& limit, std::size_t buckets_max = kBucketsMax)
      : limit_(limit), buckets_max_(buckets_max) {}

  // Takes a request of `caller` from its bucket. Zero if it may pass, else how long until one may.
  absl::Duration Take(const std::string& caller, Instant now);

  // What was spent stays spent.
  void set_limit(const RateLimit& limit) { limit_ = limit; }
  std::size_t size() const { return buckets_.size(); }

 private:
  struct Bucket {
    double spent = 0;  // 0 is a full bucket
    Instant at{};
  };

  double SpentAt(const Bucket& bucket, Instant now) const;
  Bucket& Find(const std::string& caller, Instant now);
  // A full bucket is as good as none.
  void DropFull(Instant now);

  RateLimit limit_;
  const std::size_t buckets_max_;
  absl::flat_hash_map<std::string, Bucket> buckets_;
  Bucket shared_;
  Instant next_drop_{};
};

}  // namespace plimsoll::internal
