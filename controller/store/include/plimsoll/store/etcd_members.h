#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plimsoll/controller/leadership.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/store/etcd_api.h"
#include "plimsoll/store/etcd_plan.h"

namespace plimsoll {

// Where the keys of a shard are: the prefix itself if there is only one.
std::string ShardPrefix(const std::string& prefix, int shard, int shards);

// Whether the log below the prefix was made for so many shards, and makes it if there is none: one
// of more than one shard says so in `<prefix>/shards`. kFailedPrecondition: it was made for another
// number, and dependencies would be found in other shards. Other errors: etcd cannot be asked now.
absl::Status CheckShards(Etcd& etcd, const std::string& prefix, int shards);

// Controllers that share the shards of one etcd.
struct EtcdClusterView {
  std::vector<Leader> members;
  std::vector<EtcdSight> shards;  // by shard
  // Whether this controller could show that it is there: if not, etcd reads and does not write.
  absl::Status joined;
};

// Shows that this controller is there, in `<prefix>/member/<id>` with a lease, and sees who else
// is. The lease is shorter than that of leaders if it can be, so that the dead are no members any
// more when others may follow them. Thread-compatible.
class EtcdMembers {
 public:
  // `lease` is that of leaders: whole seconds, at least 2. `clock` must outlive it.
  EtcdMembers(std::string prefix, int shards, Leader self, absl::Duration lease,
              std::unique_ptr<Etcd> etcd, const Clock& clock);

  // To be called a few times in each lease. What is more than one transaction may ask for is seen
  // one part after the other.
  absl::StatusOr<EtcdClusterView> Look();
  // Is no member any more. If etcd does not answer, soon.
  void Leave();

 private:
  absl::Status KeepAlive();
  absl::Status Join();
  // All of `ranges`, in order, in as few transactions as may be.
  absl::StatusOr<std::vector<EtcdRangeResult>> Read(const std::vector<EtcdRange>& ranges);
  void ReadMembers(const EtcdRangeResult& range, EtcdClusterView& view);

  const std::string prefix_;
  const int shards_;
  const Leader self_;
  const absl::Duration lease_time_;
  const std::unique_ptr<Etcd> etcd_;
  const Clock& clock_;
  std::int64_t lease_ = 0;  // 0: none
  Instant renew_at_;
};

}  // namespace plimsoll
