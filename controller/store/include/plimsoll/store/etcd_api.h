#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plimsoll/store/etcd_types.h"

namespace plimsoll {

// An etcd that can be asked. Calls block, for a bounded time. Thread-compatible.
//
// Errors: kUnavailable: nobody answered in time, and what was asked may have been done, or may
// still be. All others mean that nothing was done: kOutOfRange for a revision that was compacted,
// kNotFound for a lease that has ended, kPermissionDenied and kUnauthenticated, kResourceExhausted
// for an etcd that is full, kInvalidArgument. Messages say which endpoint, what it was asked, and
// what to do.
class Etcd {
 public:
  virtual ~Etcd() = default;

  virtual absl::StatusOr<EtcdTxnResult> Txn(const EtcdTxn& txn) = 0;
  virtual absl::StatusOr<EtcdRangeResult> Range(const EtcdRange& range) = 0;
  // A new lease, which ends after `ttl` without being kept alive. Whole seconds; etcd may make it
  // longer.
  virtual absl::StatusOr<std::int64_t> Grant(absl::Duration ttl) = 0;
  // Returns how long it lives from now on. kNotFound: it has ended.
  virtual absl::StatusOr<absl::Duration> KeepAlive(std::int64_t lease) = 0;
  virtual absl::Status Revoke(std::int64_t lease) = 0;
};

}  // namespace plimsoll
